import {
  chatEnhanced,
  chatUnified,
  resumeChatStream,
  startChatStream,
  stopChatStream,
} from '@atelier/contract'
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  brokenAnswer,
  type ChatDatabase,
  type ChatTestServer,
  finish,
  openChatDatabase,
  type Part,
  people,
  refusal,
  startChatTestServer,
  text,
  workspaceId,
} from './chat-test-server.ts'

const accept = 'text/event-stream; profile="ui-message-stream"'

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

/** What `useChat` is given: the AI SDK's own transport. */
function transport(path: string, body: (question: string) => object) {
  return new DefaultChatTransport({
    api: server.url + path,
    headers: { accept },
    prepareSendMessagesRequest: ({ messages }) => {
      const [part] = messages.at(-1)?.parts ?? []
      return { body: body(part?.type === 'text' ? part.text : '') }
    },
    prepareReconnectToStreamRequest: ({ id }) => ({
      api: `${server.url}${resumeChatStream.path}?chatId=${id}`,
      headers: { accept },
    }),
  })
}

const question: UIMessage = {
  id: 'q',
  role: 'user',
  parts: [{ type: 'text', text: 'How are routes matched?' }],
}

const send = (to: DefaultChatTransport<UIMessage>) =>
  to.sendMessages({
    trigger: 'submit-message',
    chatId: 'c',
    messageId: undefined,
    messages: [question],
    abortSignal: undefined,
  })

const enhanced = (more: object = {}) =>
  transport(chatEnhanced.path, (message) => ({ message, model: 'test', context: { workspaceId }, ...more }))
const stored = (more: object = {}) =>
  transport(startChatStream.path, (message) => ({ message, model: 'test', workspaceId, ...more }))

/** The message as `useChat` would show it at the end, and what it would report as its error. */
async function read(stream: ReadableStream<UIMessageChunk> | null) {
  const errors: unknown[] = []
  let message: UIMessage | undefined
  if (stream !== null) {
    const onError = (error: unknown) => void errors.push(error)
    for await (const state of readUIMessageStream({ stream, onError })) message = state
  }
  const words = message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return { message, text: words, errors }
}

describe('the UI message stream of the AI SDK', () => {
  it('[UI1, UI2] shows an answer with its model, usage, cost and sources', async () => {
    const { message, text: words, errors } = await read(await send(enhanced()))
    expect(errors).toEqual([])
    expect(words).toBe('Routes are matched in [src/router.ts:12-14].')
    expect(message).toMatchObject({
      id: expect.stringMatching(/^run_/),
      role: 'assistant',
      metadata: {
        model: 'test',
        provider: 'test/test',
        ragActive: true,
        finishReason: 'stop',
        cost: expect.any(String),
      },
      parts: [
        { type: 'step-start' },
        { type: 'text', state: 'done' },
        { type: 'source-document', title: 'src/router.ts:12-14', filename: 'src/router.ts' },
      ],
    })
  })

  it('[UI1] is sent to who accepts it only, and names itself', async () => {
    const ask = (wanted: string) =>
      fetch(server.url + chatEnhanced.path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: wanted },
        body: JSON.stringify({ message: 'Hello?', model: 'test' }),
      })
    const ui = await ask(accept)
    expect(ui.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    expect(ui.headers.get('content-type')).toContain('text/event-stream')
    expect(ui.headers.get('x-model-used')).toBe('test')
    expect((await ui.text()).trimEnd()).toMatch(/data: \[DONE\]$/)
    for (const other of ['*/*', 'text/event-stream', 'application/json']) {
      const plain = await ask(other)
      expect(plain.headers.get('x-vercel-ai-ui-message-stream')).toBeNull()
      expect(await plain.text()).not.toContain('text-delta')
    }
  })

  it('[UI2] shows the calls of tools with their results, in steps', async () => {
    const call = (path: string): Part => {
      const input = JSON.stringify({ path })
      return { type: 'tool-call', toolCallId: 'call_0', toolName: 'read_file', input }
    }
    const wantsTools = { ...finish, finishReason: { unified: 'tool-calls', raw: 'tool_calls' } } as Part
    const rounds: Part[][] = [
      [text('Let me look.'), call('src/app.ts'), wantsTools],
      [call('none.ts'), wantsTools],
      [text('It serves.'), finish],
    ]
    server.scripts.set('tools', async function* () {
      yield* rounds.shift() ?? []
    })
    const { message, errors } = await read(await send(enhanced({ model: 'tools', enableTools: true })))
    expect(errors).toEqual([])
    expect(message?.parts.filter(({ type }) => type !== 'source-document')).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: 'Let me look.' },
      {
        type: 'dynamic-tool',
        toolName: 'read_file',
        state: 'output-available',
        input: { path: 'src/app.ts' },
        output: { summary: 'lines 1-2 of 2', result: expect.stringContaining('2| serve(app)') },
      },
      { type: 'dynamic-tool', state: 'output-error', errorText: 'There is no text file at none.ts.' },
      { type: 'step-start' },
      { type: 'text', text: 'It serves.' },
    ])
  })

  it('[UI3] an answer that breaks off keeps what came, and is an error', async () => {
    server.scripts.set('test', brokenAnswer)
    const { message, text: words, errors } = await read(await send(enhanced()))
    expect(words).toBe('Half of an answ')
    expect(errors).toHaveLength(1)
    expect(message).toMatchObject({
      metadata: { finishReason: 'interrupted', attempts: [{ model: 'test' }] },
    })
  })

  it('[UI3] a failure before the first content has its status', async () => {
    server.scripts.set('test', refusal)
    await expect(send(enhanced())).rejects.toThrow(/PROVIDER_ERROR/)
  })

  it('[UI4] an answer that begins again with another model shows only the second', async () => {
    server.scripts.set('test', brokenAnswer)
    const body = (content: string) => ({
      messages: [{ role: 'user', content }],
      models: ['test', 'second'],
      stream: true,
      reset: true,
    })
    const { message, text: words, errors } = await read(await send(transport(chatUnified.path, body)))
    expect(errors).toEqual([])
    expect(words).toBe('Routes are matched in [src/router.ts:12-14].')
    expect(message).toMatchObject({ metadata: { model: 'second' } })
  })

  it('[RUN12, UI5] goes on after a reload, from the beginning of the message; without an answer in the making there is none', async () => {
    const goOn = Promise.withResolvers<void>()
    server.scripts.set('test', async function* () {
      yield text('First, ')
      await goOn.promise
      yield text('then.')
      yield finish
    })
    const first = await send(stored())
    const reader = first.getReader()
    let chatId = ''
    while (chatId === '') {
      const { value } = await reader.read()
      if (value?.type === 'start') ({ chatId } = value.messageMetadata as { chatId: string })
    }
    await reader.cancel()
    const again = await stored().reconnectToStream({ chatId })
    goOn.resolve()
    const { text: words, message } = await read(again)
    expect(words).toBe('First, then.')
    expect(message).toMatchObject({ metadata: { chatId, messageId: expect.stringMatching(/^msg_/) } })
    await expect.poll(async () => stored().reconnectToStream({ chatId }), { timeout: 30_000 }).toBeNull()
  })

  it('[RUN12, UI5] only the own conversation can be gone on with', async () => {
    const { message } = await read(await send(stored()))
    const { chatId } = (message?.metadata ?? {}) as { chatId?: string }
    const headers = { 'x-person': people[1], accept }
    const asked = await fetch(`${server.url}${resumeChatStream.path}?chatId=${chatId}`, { headers })
    expect(asked.status).toBe(404)
    for (const query of ['', `?chatId=${chatId}&runId=run_01JD8XQ4ZK3V5N6P7R8S9T0AAA`]) {
      expect((await fetch(`${server.url}${resumeChatStream.path}${query}`)).status).toBe(400)
    }
  })

  it('[UI5] with the number of an event, what follows it is sent', async () => {
    const { message } = await read(await send(enhanced()))
    const path = `${server.url}${resumeChatStream.path}?runId=${message?.id}`
    const whole = await (await fetch(path, { headers: { accept } })).text()
    const after = await (await fetch(path, { headers: { accept, 'last-event-id': '2' } })).text()
    expect(after).not.toContain('"type":"start"')
    expect(whole.slice(-after.length)).toBe(after)
    expect(after).toContain('id: 3')
  })

  it('[UI6] an answer that is stopped keeps what came and is no error', async () => {
    server.scripts.set('test', async function* (call) {
      yield text('So far.')
      await new Promise((resolve) => call.abortSignal?.addEventListener('abort', resolve))
    })
    const states: string[] = []
    const errors: unknown[] = []
    let stopping: Promise<unknown> | undefined
    const stream = await send(stored())
    for await (const { id, parts } of readUIMessageStream({
      stream,
      onError: (error) => errors.push(error),
    })) {
      const words = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
      states.push(words)
      if (words !== '') stopping ??= server.client.call(stopChatStream, { query: { runId: id } })
    }
    expect(await stopping).toMatchObject({ state: 'stopped' })
    expect(states.at(-1)).toBe('So far.')
    expect(errors).toEqual([])
  })
})
