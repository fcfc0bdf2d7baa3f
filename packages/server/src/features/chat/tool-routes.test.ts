import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import {
  type Body,
  chatEnhanced,
  chatUnified,
  readChats,
  startChatStream,
  stopChatStream,
} from '@atelier/contract'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type ChatDatabase,
  type ChatTestServer,
  finish,
  openChatDatabase,
  type Part,
  readAll,
  refusal,
  startChatTestServer,
  text,
  workspaceId,
} from './chat-test-server.ts'

let database: ChatDatabase
let server: ChatTestServer

beforeAll(async () => {
  database = await openChatDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  server = await startChatTestServer(database, { MODEL_FALLBACKS: 'tools=tools2' })
})
afterEach(() => server[Symbol.asyncDispose]())

const ask = async (body: Partial<Body<typeof chatEnhanced>> = {}) =>
  readAll(
    await server.client.stream(chatEnhanced, {
      body: {
        message: 'What is served?',
        model: 'tools',
        enableTools: true,
        context: { workspaceId },
        ...body,
      },
    }),
  )

const wantsTools: Part = { ...finish, finishReason: { unified: 'tool-calls', raw: 'tool_calls' } } as Part
const call = (toolName: string, input: unknown, id = toolName): Part => ({
  type: 'tool-call',
  toolCallId: id,
  toolName,
  input: typeof input === 'string' ? input : JSON.stringify(input),
  providerMetadata: { test: { signature: `of ${id}` } },
})

/** Each call of the model plays the next of these; the last goes on for ever. */
function rounds(model: string, ...scripts: Part[][]): void {
  let round = 0
  server.scripts.set(model, async function* () {
    yield* scripts[Math.min(round++, scripts.length - 1)] ?? []
  })
}

const lastAsked = () => server.asked.at(-1)?.call as LanguageModelV4CallOptions
const resultsOf = ({ prompt }: LanguageModelV4CallOptions) =>
  prompt
    .flatMap((message) => (message.role === 'tool' ? message.content : []))
    .flatMap((part) => (part.type === 'tool-result' ? [part] : []))

describe('tools', () => {
  it('[TOOL1, TOOL2] are called in a loop; each call is shown, and what was read may be cited', async () => {
    server.retrieve = async () => ({ passages: [], relevanceScore: null })
    rounds(
      'tools',
      [text('Let me look. '), call('read_file', { path: './src/app.ts' }), wantsTools],
      [text('It serves the app [src/app.ts:2-2].'), finish],
    )
    const { headers, chunks, content, last } = await ask()
    expect(headers.get('x-tools-enabled')).toBe('true')
    expect(content).toBe('Let me look. It serves the app [src/app.ts:2-2].')
    expect(chunks.flatMap((chunk) => ('tool' in chunk ? [chunk.tool] : []))).toEqual([
      {
        id: 'read_file',
        name: 'read_file',
        input: { path: './src/app.ts' },
        state: 'running',
        summary: null,
        result: null,
        ms: null,
      },
      {
        id: 'read_file',
        name: 'read_file',
        input: { path: './src/app.ts' },
        state: 'done',
        summary: 'lines 1-2 of 2',
        result: expect.stringContaining('2| serve(app)'),
        ms: expect.any(Number),
      },
    ])
    expect(chunks[0]).toMatchObject({ toolsEnabled: true })
    expect(resultsOf(lastAsked())).toMatchObject([
      { toolCallId: 'read_file', output: { type: 'text', value: expect.stringContaining('2| serve(app)') } },
    ])
    expect(last).toMatchObject({
      finishReason: 'stop',
      usage: { inputTokens: 120, cachedInputTokens: 80, outputTokens: 14 },
      cost: '0.000268',
      citations: [{ path: 'src/app.ts', startLine: 2, endLine: 2, contentSha256: 'e'.repeat(64) }],
      attempts: [{ model: 'tools' }, { model: 'tools' }],
    })
  })

  it.each([
    ['search_code', { query: 'routes' }, 'match(path)', '1 passages'],
    ['list_files', {}, 'src/app.ts (26)', '2 files'],
    ['read_file', { path: 'src/app.ts', start_line: 2 }, '2| serve(app)', 'lines 2-2 of 2'],
    ['grep', { query: 'app', folder: 'src/' }, 'src/app.ts:1: app', '100 lines and more'],
  ])('[TOOL1] there is %s', async (name, input, found, summary) => {
    rounds('tools', [call(name, input), wantsTools], [text('Done.'), finish])
    const { chunks } = await ask()
    expect(resultsOf(lastAsked())[0]?.output).toMatchObject({ value: expect.stringContaining(found) })
    expect(chunks.find((chunk) => 'tool' in chunk && chunk.tool.state === 'done')).toMatchObject({
      tool: { summary },
    })
  })

  it.each([
    ['an unknown tool', 'rm_rf', {}, 'There is no tool rm_rf'],
    ['an input that is no JSON', 'read_file', '{"path":', 'The input is not valid'],
    ['a wrong input', 'read_file', { path: 7, extra: 1 }, 'path: '],
    ['a file that is not there', 'read_file', { path: '../etc/passwd' }, 'There is no text file'],
    ['a line that is not there', 'read_file', { path: 'src/app.ts', start_line: 9 }, 'has 2 lines only'],
  ])('[TOOL3] the model is told what is wrong, and goes on: %s', async (_, name, input, told) => {
    rounds('tools', [call(name, input), wantsTools], [text('Then not.'), finish])
    const { chunks, last } = await ask()
    expect(resultsOf(lastAsked())[0]?.output).toMatchObject({
      type: 'error-text',
      value: expect.stringContaining(told),
    })
    expect(chunks.some((chunk) => 'tool' in chunk && chunk.tool.state === 'failed')).toBe(true)
    expect(last).toMatchObject({ finishReason: 'stop' })
  })

  it('[TOOL12] who leaves the workspace during an answer gets no more of it', async () => {
    server.scripts.set('tools', async function* () {
      if (server.left) yield* [text('Then not.'), finish]
      else {
        server.left = true
        yield* [call('read_file', { path: 'src/app.ts' }), wantsTools]
      }
    })
    const { last } = await ask()
    expect(resultsOf(lastAsked())[0]?.output).toMatchObject({
      type: 'error-text',
      value: expect.stringContaining('Workspace not found'),
    })
    expect(last).toMatchObject({ finishReason: 'stop' })
  })

  it('[TOOL4] a model that never stops calling is asked eight times, at last without tools', async () => {
    rounds('tools', [call('list_files', {}), wantsTools])
    const { last, chunks } = await ask()
    expect(server.asked).toHaveLength(8)
    expect(server.asked.map(({ call: { toolChoice } }) => toolChoice?.type)).toEqual([
      ...Array(7).fill('auto'),
      'none',
    ])
    expect(last).toMatchObject({ done: true, finishReason: 'tool-calls' })
    expect(chunks.filter((chunk) => 'done' in chunk)).toHaveLength(1)
  })

  it('[TOOL4] of many calls at a time eight are made', async () => {
    const many = Array.from({ length: 12 }, (_, index) => call('list_files', {}, `c${index}`))
    rounds('tools', [...many, wantsTools], [text('Done.'), finish])
    await ask()
    const results = resultsOf(lastAsked())
    expect(results).toHaveLength(12)
    expect(results.filter(({ output }) => output.type === 'text')).toHaveLength(8)
  })

  it('[TOOL5] another model goes on with what was found, without the reasoning and signatures of the first', async () => {
    rounds('tools', [
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'I must look.' },
      { type: 'reasoning-end', id: 'r', providerMetadata: { test: { signature: 'of r' } } },
      call('list_files', {}),
      wantsTools,
    ])
    const first = server.scripts.get('tools')
    let asked = 0
    server.scripts.set('tools', (options) => (asked++ === 0 && first ? first(options) : refusal()))
    rounds('tools2', [text('Two files.'), finish])
    const { content, last } = await ask()
    expect(content).toBe('Two files.')
    const again = server.asked.filter(({ model }) => model === 'tools')[1]?.call
    expect(JSON.stringify(again?.prompt)).toContain('I must look.')
    expect(JSON.stringify(again?.prompt)).toContain('of r')
    const other = JSON.stringify(lastAsked().prompt)
    expect(other).not.toContain('I must look.')
    expect(other).not.toContain('signature')
    expect(resultsOf(lastAsked())).toHaveLength(1)
    expect(last).toMatchObject({ finishReason: 'stop' })
  })

  it('[TOOL5, CHAT3] chunks, usage and cost tell the model that goes on, and all that was asked', async () => {
    rounds('tools', [text('One. '), call('list_files', {}), wantsTools])
    const first = server.scripts.get('tools')
    let asked = 0
    server.scripts.set('tools', (options) => (asked++ === 0 && first ? first(options) : refusal()))
    rounds('tools2', [text('Two.'), finish])
    const { chunks, last } = await ask()
    expect(chunks.flatMap((chunk) => ('content' in chunk ? [chunk.model] : []))).toEqual(['tools', 'tools2'])
    expect(last).toMatchObject({
      usage: { inputTokens: 120, cachedInputTokens: 80, outputTokens: 14 },
      attempts: [
        { model: 'tools', outcome: 'answered' },
        {},
        {},
        {},
        { model: 'tools2', outcome: 'answered' },
      ],
    })
  })

  it('[TOOL10] an answer that is stopped between calls tells what it has cost', async () => {
    const calling = [text('One. '), call('list_files', {}), wantsTools]
    let asked = 0
    server.scripts.set('tools', async function* (options) {
      if (asked++ === 0) return yield* calling
      await new Promise((resolve) => options.abortSignal?.addEventListener('abort', resolve))
    })
    const body = { message: 'Which files?', model: 'tools', workspaceId, enableTools: true }
    const stream = await server.client.stream(startChatStream, { body })
    await expect.poll(() => asked, { timeout: 30_000 }).toBe(2)
    const runId = stream.headers.get('x-run-id') ?? ''
    await server.client.call(stopChatStream, { query: { runId } })
    const { last } = await readAll(stream)
    expect(last).toMatchObject({ finishReason: 'aborted', cost: '0.000134', usage: { outputTokens: 7 } })
  })

  it('[TOOL10] an answer whose model fails between calls names every attempt, and keeps what was called', async () => {
    let asked = 0
    const calling = [text('One. '), call('list_files', {}), wantsTools]
    server.scripts.set('tools', async function* () {
      if (asked++ > 0) yield* refusal()
      yield* calling
    })
    server.scripts.set('tools2', refusal)
    const body = { message: 'Which files?', model: 'tools', workspaceId, enableTools: true }
    const { last, headers } = await readAll(await server.client.stream(startChatStream, { body }))
    expect(last).toMatchObject({ done: true, finishReason: 'error', error: { code: 'PROVIDER_ERROR' } })
    expect(last).toMatchObject({ usage: { outputTokens: 7 }, cost: '0.000134' })
    expect(last && 'attempts' in last ? last.attempts : []).toHaveLength(7)
    const read = await server.client.call(readChats, { query: { chatId: headers.get('x-chat-id') ?? '' } })
    expect(read).toMatchObject({ items: [{}, { content: 'One. ', answer: { tools: [{ state: 'done' }] } }] })
  })

  it('[TOOL6] a model without tools answers where none with them does', async () => {
    await using plain = await startChatTestServer(database, { MODEL_FALLBACKS: 'tools=second' })
    plain.scripts.set('tools', refusal)
    const body = { message: 'Which files?', model: 'tools', enableTools: true, context: { workspaceId } }
    const { headers, chunks, last } = await readAll(await plain.client.stream(chatEnhanced, { body }))
    expect(headers.get('x-model-used')).toBe('second')
    expect(headers.get('x-tools-enabled')).toBe('false')
    expect(chunks[0]).toMatchObject({ model: 'second', toolsEnabled: false })
    expect(plain.asked.at(-1)?.call.tools).toBeUndefined()
    expect(last).toMatchObject({ finishReason: 'stop', attempts: [{}, {}, {}, { model: 'second' }] })
  })

  it('[TOOL11] results stand between the lines of the quotation, and leave room in a small window', async () => {
    const word = 'word '.repeat(150)
    server.retrieve = async () => ({ passages: [], relevanceScore: null })
    rounds('tools-small', [call('grep', { query: word }), wantsTools])
    await ask({ model: 'tools-small', message: 'Where is the word?' })
    const { prompt } = lastAsked()
    const system = JSON.stringify(prompt[0])
    const boundary = /=== BEGIN ([0-9a-f]{32})/.exec(system)?.[1]
    const texts = resultsOf(lastAsked()).map(({ output }) => ('value' in output ? String(output.value) : ''))
    expect(texts).toHaveLength(7)
    for (const one of texts)
      expect(one).toMatch(new RegExp(`^=== BEGIN ${boundary}\n[^]*\n=== END ${boundary}$`))
    expect(texts[0]).toContain('no more room for this result')
    expect(texts.at(-1)).toContain('word word')
    expect(JSON.stringify(prompt).length).toBeLessThan(4_000 * 4)
  })

  it.each([
    ['nobody asks for them', { enableTools: false }],
    ['the model cannot', { model: 'test' }],
    ['there is no workspace', { context: {} }],
  ])('[TOOL6] there are none where %s, and headers and chunks say so', async (_, body) => {
    const { headers, chunks } = await ask(body)
    expect(headers.get('x-tools-enabled')).toBe('false')
    expect(chunks[0]).toMatchObject({ toolsEnabled: false })
    expect(lastAsked().tools).toBeUndefined()
  })

  it('[TOOL2] are kept with the answer of a stored conversation', async () => {
    rounds('tools', [call('list_files', {}), wantsTools], [text('Two.'), finish])
    const body = { message: 'Which files?', model: 'tools', workspaceId, enableTools: true }
    const { last } = await readAll(await server.client.stream(startChatStream, { body }))
    const chatId = last && 'chatId' in last ? (last.chatId ?? '') : ''
    const read = await server.client.call(readChats, { query: { chatId } })
    expect(read).toMatchObject({
      items: [{}, { answer: { tools: [{ name: 'list_files', state: 'done', summary: '2 files' }] } }],
    })
  })

  it('[CHAT26] instructions stay the same within a conversation, for the caches of providers, and in no other', async () => {
    rounds('tools', [text('Two.'), finish])
    const systems: string[] = []
    const next = async (chatId?: string) => {
      const body = {
        message: 'Which files?',
        model: 'tools',
        workspaceId,
        enableTools: true,
        ...(chatId && { chatId }),
      }
      const { headers } = await readAll(await server.client.stream(startChatStream, { body }))
      systems.push(JSON.stringify(lastAsked().prompt[0]))
      return headers.get('x-chat-id') ?? ''
    }
    await next(await next())
    await next()
    expect(systems[1]).toBe(systems[0])
    expect(systems[2]).not.toBe(systems[0])
  })

  it('[TOOL7] a whole answer has none', async () => {
    const messages = [{ role: 'user' as const, content: 'Which files?' }]
    await server.client.call(chatUnified, { body: { messages, models: ['tools'], workspaceId } })
    expect(lastAsked().tools).toBeUndefined()
  })
})
