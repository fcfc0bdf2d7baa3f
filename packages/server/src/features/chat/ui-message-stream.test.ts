import {
  chatEnhanced,
  chatUnified,
  resumeChatStream,
  startChatStream,
  stopChatStream,
} from '@atelier/contract'
import {
  AbstractChat,
  type ChatState,
  DefaultChatTransport,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
} from 'ai'
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

/** What `useChat` is outside React: the AI SDK's own chat, which sends its own messages. */
function useChat(body: object) {
  const state: ChatState<UIMessage> = {
    status: 'ready',
    error: undefined,
    messages: [],
    pushMessage: (message) => void state.messages.push(message),
    popMessage: () => void state.messages.pop(),
    replaceMessage: (index, message) => void state.messages.splice(index, 1, message),
    snapshot: (value) => structuredClone(value),
  }
  class Chat extends AbstractChat<UIMessage> {}
  const own = new DefaultChatTransport({ api: server.url + chatUnified.path, headers: { accept }, body })
  return { state, chat: new Chat({ id: 'c', state, transport: own }) }
}

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

  it('[UI7] a chat of useChat works as it is, turn after turn, tools included', async () => {
    const { chat, state } = useChat({ model: 'tools', workspaceId, enableTools: true })
    const call: Part = { type: 'tool-call', toolCallId: 'c', toolName: 'list_files', input: '{}' }
    const wantsTools = { ...finish, finishReason: { unified: 'tool-calls', raw: 'tool_calls' } } as Part
    const rounds: Part[][] = [
      [call, wantsTools],
      [text('Two files.'), finish],
      [text('Yes.'), finish],
    ]
    server.scripts.set('tools', async function* () {
      yield* rounds.shift() ?? []
    })
    await chat.sendMessage({ text: 'Which files?' })
    expect([state.status, state.error]).toEqual(['ready', undefined])
    expect(state.messages.at(-1)?.parts.map(({ type }) => type)).toContain('dynamic-tool')
    await chat.sendMessage({ text: 'Sure?' })
    expect(state.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(state.messages.at(-1)?.parts).toContainEqual(
      expect.objectContaining({ type: 'text', text: 'Yes.' }),
    )
    const asked = JSON.stringify(server.asked.at(-1)?.call.prompt)
    expect(asked).toMatch(/Which files\?.*Two files\..*Sure\?/)
  })

  it('[UI7] a chat of useChat shows a failure as its error', async () => {
    const { chat, state } = useChat({ model: 'test' })
    server.scripts.set('test', brokenAnswer)
    await chat.sendMessage({ text: 'Hello?' })
    expect(state.status).toBe('error')
    expect(state.error?.message).not.toBe('')
    expect(state.messages.at(-1)?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Half of an answ' })
  })

  it.each([
    ['a message without text', { messages: [{ role: 'user' }] }, 'messages.0.content'],
    [
      'reset with tools',
      { messages: [{ role: 'user', content: 'x' }], reset: true, enableTools: true },
      'reset',
    ],
    [
      'too long a part',
      { messages: [{ role: 'user', parts: [{ type: 'text', text: 'x'.repeat(200_001) }] }] },
      'messages.0.parts',
    ],
  ])('[UI7] %s is refused by name', async (_, body, field) => {
    const asked = await fetch(server.url + chatUnified.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ ...body, model: 'test' }),
    })
    expect(asked.status).toBe(400)
    expect(await asked.json()).toMatchObject({ error: { details: { field } } })
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
