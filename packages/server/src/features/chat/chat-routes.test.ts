import { type Body, chat, chatEnhanced } from '@atelier/contract'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  brokenAnswer,
  type ChatDatabase,
  type ChatTestServer,
  foreignWorkspaceId,
  openChatDatabase,
  passage,
  people,
  readAll,
  refusal,
  startChatTestServer,
  text,
  usualAnswer,
  workspaceId,
} from './chat-test-server.ts'

const question = { message: 'How are routes matched?', model: 'test' }

let database: ChatDatabase
let server: ChatTestServer

beforeAll(async () => {
  database = await openChatDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  server = await startChatTestServer(database)
})
afterEach(() => server[Symbol.asyncDispose]())

const ask = async (body: Body<typeof chatEnhanced>) =>
  readAll(await server.client.stream(chatEnhanced, { body }))

describe('streamed answers', () => {
  it('[CHAT2, CHAT3, CHAT4, CHAT10, CHAT19] headers, chunks, one terminal chunk with usage, cost and citations', async () => {
    const { headers, chunks, content, last } = await ask({ ...question, context: { workspaceId } })
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
      'x-model-used': 'test',
      'x-provider': 'test/test',
      'x-rag-status': 'active',
      'x-tools-enabled': 'false',
      'x-enhanced-features': 'multi-provider, rag, context-aware',
    })
    expect(content).toBe('Routes are matched in [src/router.ts:12-14].')
    for (const chunk of chunks.slice(0, -1)) {
      expect(chunk).toMatchObject({
        model: 'test',
        provider: 'test/test',
        ragActive: true,
        toolsEnabled: false,
      })
      expect(chunk).not.toHaveProperty('done')
    }
    expect(chunks.map((chunk) => ('tokenCount' in chunk ? chunk.tokenCount : null))).toEqual([
      5,
      10,
      11,
      null,
    ])
    expect(last).toMatchObject({
      done: true,
      finishReason: 'stop',
      finalTokenCount: 7,
      usage: { inputTokens: 60, cachedInputTokens: 40, outputTokens: 7, estimated: false },
      cost: '0.000134',
      runId: expect.stringMatching(/^run_/),
      ragContext: { workspaceId, relevanceScore: 'high' },
      citations: [{ path: 'src/router.ts', startLine: 12, endLine: 14, contentSha256: 'f'.repeat(64) }],
    })
  })

  it('[CHAT19] an unknown price is null, not free', async () => {
    expect((await ask({ ...question, model: 'unpriced' })).last).toMatchObject({ cost: null })
  })

  it('[CHAT4, CHAT19, GW9] a stream that ends without its completion signal is interrupted, and what came is kept', async () => {
    server.scripts.set('test', brokenAnswer)
    const { content, chunks, last } = await ask(question)
    expect(content).toBe('Half of an answ')
    expect(last).toMatchObject({ done: true, finishReason: 'interrupted', error: { code: 'PROVIDER_ERROR' } })
    expect(last).toMatchObject({ usage: { estimated: true }, cost: expect.any(String) })
    expect(chunks.filter((chunk) => 'done' in chunk)).toHaveLength(1)
    expect(server.logged.find(({ msg }) => msg === 'answer')).toMatchObject({
      finishReason: 'interrupted',
      usage: { estimated: true },
    })
  })

  it('[CHAT4] a failure that the provider reports inside its stream is an error', async () => {
    server.scripts.set('test', async function* () {
      yield text('Half')
      yield { type: 'error', error: new Error('overloaded: secret details') }
    })
    const { last } = await ask(question)
    expect(last).toMatchObject({ done: true, finishReason: 'error', error: { code: 'PROVIDER_ERROR' } })
    expect(JSON.stringify(last)).not.toContain('secret details')
  })

  it('[CHAT17] a failure before the first content has a status and is tried again', async () => {
    server.scripts.set('test', refusal)
    await expect(ask(question)).rejects.toMatchObject({ status: 502, code: 'PROVIDER_ERROR' })
    expect(server.asked).toHaveLength(3)
  })

  it('[CHAT17] a model that says nothing is a time-out', async () => {
    server.scripts.set('test', async function* () {
      await new Promise(() => undefined)
    })
    await expect(ask(question)).rejects.toMatchObject({ status: 504, code: 'TIMEOUT' })
  })

  it('[CHAT18] tools that do not exist are not announced', async () => {
    const { headers, chunks } = await ask({ ...question, enableTools: true })
    expect(headers.get('x-tools-enabled')).toBe('false')
    expect(chunks[0]).toMatchObject({ toolsEnabled: false })
  })

  it('[GW4] a model without a key degrades to the local one, and the answer says so first', async () => {
    const { headers, content } = await ask({ ...question, model: 'keyless' })
    expect(headers.get('x-model-used')).toBe('local')
    expect(content).toMatch(
      /^> \*\*Model keyless\*\* cannot be used here.*\*\*Model local\*\* answers instead\.\n\nRoutes/,
    )
  })

  it('[CHAT21] the log has one line an answer and not a word of the conversation', async () => {
    await ask({ ...question, context: { workspaceId } })
    const lines = server.logged.filter(({ msg }) => msg === 'answer')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      userId: people[0],
      workspaceId,
      model: 'test',
      tokens: 107,
      cost: '0.000134',
    })
    expect(JSON.stringify(server.logged)).not.toMatch(/routes|match\(path\)/i)
  })
})

describe('context of a question', () => {
  const promptText = () => JSON.stringify(server.asked[0]?.call.prompt)

  it('[CHAT15] without a workspace the status is inactive', async () => {
    const { headers, last } = await ask(question)
    expect(headers.get('x-rag-status')).toBe('inactive')
    expect(last).toMatchObject({ ragContext: null, citations: [] })
  })

  it('[CHAT15] a workspace with nothing relevant is inactive', async () => {
    server.retrieve = async () => ({ passages: [], relevanceScore: null })
    const { headers, chunks, last } = await ask({ ...question, context: { workspaceId } })
    expect(headers.get('x-rag-status')).toBe('inactive')
    expect(chunks[0]).toMatchObject({ ragActive: false })
    expect(last).toMatchObject({ ragContext: { workspaceId, relevanceScore: null }, citations: [] })
  })

  it('[CHAT24] where retrieval has failed, the local model is told so', async () => {
    server.retrieve = () => Promise.reject(new Error('no database'))
    await ask({ ...question, model: 'local', context: { workspaceId } })
    expect(server.asked.at(-1)?.call.providerOptions?.atelier).toMatchObject({
      unavailable: true,
      passages: [],
    })
  })

  it('[CHAT15] a retrieval that fails does not fail the answer', async () => {
    server.retrieve = () => Promise.reject(new Error('no database'))
    const { headers, content, last } = await ask({ ...question, context: { workspaceId } })
    expect(headers.get('x-rag-status')).toBe('unavailable')
    expect(last).toMatchObject({ ragContext: { workspaceId, status: 'unavailable' } })
    expect(content).toContain('Routes')
    expect(server.logged.some(({ msg }) => msg === 'retrieval failed')).toBe(true)
  })

  it('[CHAT1] selects the model, retrieves, builds the prompt and asks, in this order, and stops at what is wrong', async () => {
    const order: string[] = []
    server.retrieve = async () => {
      order.push('retrieve')
      return { passages: [passage], relevanceScore: 'high' }
    }
    server.scripts.set('test', async function* (call) {
      order.push(JSON.stringify(call.prompt).includes('src/router.ts') ? 'ask with passages' : 'ask')
      yield* usualAnswer()
    })
    const context = { workspaceId }
    const unknown = { ...question, model: 'none', context }
    await expect(server.client.stream(chatEnhanced, { body: unknown })).rejects.toMatchObject({
      status: 400,
      details: { field: 'model' },
    })
    expect(order).toEqual([])
    const long = { message: 'long '.repeat(30_000), model: 'small', context }
    await expect(server.client.stream(chatEnhanced, { body: long })).rejects.toMatchObject({
      status: 400,
      details: { field: 'message' },
    })
    expect([order, server.asked.length]).toEqual([['retrieve'], 0])
    await ask({ ...question, context })
    expect(order).toEqual(['retrieve', 'retrieve', 'ask with passages'])
    expect(server.logged.filter(({ msg }) => msg === 'answer')).toHaveLength(1)
  })

  it('[CHAT16] a foreign workspace is 404 and nothing is asked', async () => {
    const asking = ask({ ...question, context: { workspaceId: foreignWorkspaceId } })
    await expect(asking).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect(server.asked).toEqual([])
  })

  it('[CHAT14] named files are quoted, what is missing is named', async () => {
    server.retrieve = async () => ({ passages: [], relevanceScore: null })
    const files = ['./src/app.ts', 'src/app.ts', 'gone.ts']
    const { headers } = await ask({ ...question, context: { workspaceId, files } })
    expect(promptText()).toContain('[src/app.ts:1-2]\\n1| const app = 1\\n2| serve(app)')
    expect(promptText()).toContain('not in the workspace: gone.ts')
    expect(promptText().split('const app')).toHaveLength(2)
    expect(headers.get('x-rag-status')).toBe('active')
  })

  it('[CHAT5] earlier turns go to whichever model answers now', async () => {
    const previousMessages = [
      { role: 'user' as const, content: 'My name is Ada.' },
      { role: 'assistant' as const, content: 'Hello Ada.' },
    ]
    await ask({ message: 'Who am I?', model: 'test', context: { previousMessages } })
    await ask({ message: 'Who am I?', model: 'local', context: { previousMessages } })
    expect(server.asked).toHaveLength(2)
    expect(server.asked[0]?.call.prompt).toEqual(server.asked[1]?.call.prompt)
    expect(promptText()).toContain('Hello Ada.')
  })
})

describe('whole answers', () => {
  const messages = [{ role: 'user' as const, content: 'How are routes matched?' }]
  const post = async (body: unknown) => {
    const response = await fetch(`${server.url}/api/ai/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as Record<string, never> }
  }

  it('[CHAT19, GW3] a conversation gets its answer, from the recommended model when none is named', async () => {
    const { status, body } = await post({ messages, workspaceId, maxTokens: 500, temperature: 0.5 })
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      message: { role: 'assistant', content: 'Routes are matched in [src/router.ts:12-14].' },
      model: 'test',
      provider: 'test/test',
      finishReason: 'stop',
      cost: '0.000134',
      citations: [{ path: 'src/router.ts', startLine: 12, endLine: 14 }],
    })
    expect(server.asked[0]?.call).toMatchObject({ maxOutputTokens: 500, temperature: 0.5 })
  })

  it('[CHAT20, GW8] a client that leaves stops the call', async () => {
    server.scripts.set('test', async function* (call) {
      yield* []
      await new Promise((resolve) => call.abortSignal?.addEventListener('abort', resolve))
    })
    const leaving = new AbortController()
    const asking = server.client.call(chat, { body: { messages } }, { signal: leaving.signal })
    await expect.poll(() => server.asked.length).toBe(1)
    leaving.abort(new Error('left'))
    await expect(asking).rejects.toThrow('left')
    await expect.poll(() => server.asked[0]?.call.abortSignal?.aborted).toBe(true)
    expect(server.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
  })

  it.each([
    ['[GW2] an unknown model', { messages, model: 'nobody' }, 'model'],
    ['[CHAT7] no question at the end', { messages: [{ role: 'assistant', content: 'Hi' }] }, 'messages'],
    [
      '[CHAT9] a question that is too long',
      { messages: [{ role: 'user', content: 'word '.repeat(39_999) }] },
      'messages',
    ],
    [
      '[CHAT9] a message of a megabyte',
      { messages: [{ role: 'user', content: 'x'.repeat(1 << 20) }] },
      'messages.0.content',
    ],
  ])('%s is refused by name before a provider is asked', async (_, body, field) => {
    const answer = await post(body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: { code: 'VALIDATION_ERROR', details: { field } } })
    expect(server.asked).toEqual([])
  })
})
