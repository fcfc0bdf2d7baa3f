import { createClient } from '@atelier/client'
import type { AnswerFacts, StoredMessage } from '@atelier/contract'
import { describe, expect, test } from 'vitest'
import { createChatSession } from './chat-session.ts'
import { costOf, type Turn } from './turn.ts'

const chatId = 'chat_01JD8XQ4ZK3V5N6P7R8S9T0ABC'
const workspaceId = 'ws_01JD8XQ4ZK3V5N6P7R8S9T0ABC'
const usage = {
  inputTokens: 10,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 5,
  reasoningTokens: 0,
  estimated: false,
}
const chunk = (content: string, model = 'gpt') => ({
  content,
  model,
  provider: `openai/${model}`,
  timestamp: '2026-01-01T00:00:00Z',
  ragActive: true,
  toolsEnabled: false,
  tokenCount: 1,
})
const done = (cost: string | null = '0.25') => ({
  done: true,
  finishReason: 'stop',
  finalTokenCount: 5,
  usage,
  cost,
  runId: 'run_1',
  ragContext: { workspaceId, relevanceScore: 'high', status: 'active' },
  citations: [],
  attempts: [{ model: 'gpt', outcome: 'answered', ms: 1 }],
})

/** A stream that the test writes piece by piece, as a server would. */
function openStream() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  return {
    readable,
    send: (event: unknown) => writer.write(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)),
    end: () => writer.close(),
    cut: () => writer.abort(new TypeError('connection reset')),
  }
}

type Answer = (
  signal: AbortSignal | null | undefined,
  request: { method: string; url: string },
) => Promise<Response> | Response

/** A session against a network that the test holds in its hands; `bodies` are the questions that went out. */
function sessionOf(answer: Answer, options: { chatId?: string; wait?: () => Promise<void> } = {}) {
  const bodies: Record<string, unknown>[] = []
  const stored: string[] = []
  const client = createClient({
    baseUrl: '',
    fetch: async (input, init) => {
      const method = init?.method ?? 'GET'
      if (method === 'POST') bodies.push(JSON.parse(String(init?.body)))
      return answer(init?.signal, { method, url: String(input) })
    },
  })
  let id = 0
  const session = createChatSession({
    client,
    workspaceId,
    chatId: options.chatId ?? null,
    onStored: (each) => stored.push(each),
    onChanged: () => undefined,
    schedule: (flush) => queueMicrotask(flush),
    wait: options.wait ?? (async () => undefined),
    newId: () => String(++id),
    now: () => new Date(0),
  })
  return { session, bodies, stored, last: () => session.store.get().turns.at(-1) }
}

const eventStream = (body: BodyInit | null, runId: string | null = 'run_1') => {
  const ids: Record<string, string> = runId === null ? {} : { 'x-run-id': runId, 'x-chat-id': chatId }
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req_12345678', ...ids },
  })
}
const lines = (list: unknown[]) => list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const events = (...list: unknown[]) => eventStream(lines(list))
const envelope = (data: unknown) =>
  Response.json({ success: true, data, message: '', timestamp: '', requestId: '' })
const ask = (question: string, model = 'gpt') => ({ question, model, files: [] })

/** Resolves when the last turn is as wanted. */
function shown({ store }: ReturnType<typeof sessionOf>['session'], wanted: (turn: Turn) => boolean) {
  return new Promise<void>((resolve) => {
    const look = () => {
      const last = store.get().turns.at(-1)
      if (last === undefined || !wanted(last)) return
      unsubscribe()
      resolve()
    }
    const unsubscribe = store.subscribe(look)
    look()
  })
}
const withText = (text: string) => (turn: Turn) => turn.text === text

describe('a chat', () => {
  test('[PAGE7, PAGE40] an answer arrives, holds who gave it and what it cost, and its chat has an id', async () => {
    const { session, last, bodies, stored } = sessionOf(() => events(chunk('Hel'), chunk('lo'), done()))
    await session.ask(ask('Hi?'))
    expect(last()).toMatchObject({
      question: 'Hi?',
      text: 'Hello',
      answeredBy: { model: 'gpt', provider: 'openai/gpt' },
      outcome: { state: 'done', cost: '0.25', ragContext: { relevanceScore: 'high' } },
    })
    expect(stored).toEqual([chatId])
    expect(bodies).toEqual([
      { message: 'Hi?', model: 'gpt', workspaceId, enableTools: true, earlyHeaders: true },
    ])
  })

  test('[PAGE40] the next question goes to the same stored chat, whatever the model', async () => {
    const { session, bodies, stored } = sessionOf(() => events(chunk('Yes'), done()))
    await session.ask(ask('First?'))
    await session.ask(ask('Second?', 'claude'))
    expect(bodies[1]).toMatchObject({ chatId, message: 'Second?', model: 'claude' })
    expect(stored).toEqual([chatId])
  })

  test('[PAGE9] after a fallback the answer names the model that gave it, not the one that was asked', async () => {
    const { session, last } = sessionOf(() => events(chunk('x', 'claude'), done()))
    await session.ask(ask('Hi?', 'gpt'))
    expect(last()).toMatchObject({ askedModel: 'gpt', answeredBy: { model: 'claude' } })
  })

  test('[PAGE42] a call of a tool is one row: its end takes the place of its beginning', async () => {
    const tool = (state: string, summary: string | null) => ({
      tool: { id: 't1', name: 'grep', input: {}, state, summary, result: summary, ms: 1 },
      model: 'gpt',
      provider: 'openai/gpt',
      timestamp: '2026-01-01T00:00:00Z',
    })
    const { session, last } = sessionOf(() => events(tool('running', null), tool('done', '3 lines'), done()))
    await session.ask(ask('Hi?'))
    expect(last()?.tools).toMatchObject([{ id: 't1', state: 'done', summary: '3 lines' }])
  })

  test('[PAGE7] Stop stops the run at the server; the answer keeps its text and what it cost', async () => {
    const stream = openStream()
    const stopped: string[] = []
    const { session, last } = sessionOf((_signal, { method, url }) => {
      if (method === 'POST') return eventStream(stream.readable)
      stopped.push(`${method} ${url}`)
      void stream.send({ ...done('0.1'), finishReason: 'aborted' })
      return envelope({ runId: 'run_1', state: 'stopped' })
    })
    const asking = session.ask(ask('Hi?'))
    await stream.send(chunk('Half'))
    await shown(session, withText('Half'))
    await Promise.all([session.stop(), asking])
    expect(stopped).toEqual(['DELETE /api/chat/stream?runId=run_1'])
    expect(last()).toMatchObject({
      text: 'Half',
      outcome: { state: 'done', finishReason: 'aborted', cost: '0.1' },
    })
  })

  test('[PAGE7] a server that cannot be reached does not keep Stop from ending the answer here', async () => {
    const stream = openStream()
    let seen: AbortSignal | null | undefined
    const { session, last } = sessionOf((signal, { method }) => {
      if (method === 'DELETE') throw new TypeError('unreachable')
      seen = signal
      signal?.addEventListener('abort', () => void stream.cut().catch(() => undefined))
      return eventStream(stream.readable)
    })
    const asking = session.ask(ask('Hi?'))
    await stream.send(chunk('Half'))
    await shown(session, withText('Half'))
    await Promise.all([session.stop(), asking])
    expect(last()).toMatchObject({ text: 'Half', outcome: { state: 'stopped' } })
    expect(seen?.aborted).toBe(true)
  })

  test('[PAGE7] a lost connection is taken up again after the last event, and no word is lost or doubled', async () => {
    const asked: string[] = []
    const parts = [
      `id: 1\ndata: ${JSON.stringify(chunk('One '))}\n\n`,
      `id: 2\ndata: ${JSON.stringify(chunk('two '))}\n\n`,
      `id: 3\ndata: ${JSON.stringify(chunk('three'))}\n\nid: 4\ndata: ${JSON.stringify(done())}\n\n`,
    ]
    const { session, last } = sessionOf((_signal, { method, url }) => {
      asked.push(`${method} ${url}`)
      if (asked.length === 2) throw new TypeError('still away')
      return eventStream(parts.shift() ?? null)
    })
    await session.ask(ask('Hi?'))
    expect(last()).toMatchObject({ text: 'One two three', outcome: { state: 'done' } })
    expect(asked.slice(1)).toEqual([
      'GET /api/chat/stream?runId=run_1&lastEventId=1',
      'GET /api/chat/stream?runId=run_1&lastEventId=1',
      'GET /api/chat/stream?runId=run_1&lastEventId=2',
    ])
  })

  test('[PAGE7] a stream that ends without its last chunk is an interrupted answer, never a whole one', async () => {
    const { session, last } = sessionOf(() => eventStream(lines([chunk('Half')]), null))
    await session.ask(ask('Hi?'))
    expect(last()).toMatchObject({
      text: 'Half',
      outcome: { state: 'failed', interrupted: true, error: { requestId: 'req_12345678' } },
    })
  })

  test('[PAGE7, PAGE43] an error in the stream, and a connection that breaks, keep what came', async () => {
    const failed = {
      error: { code: 'PROVIDER_ERROR', message: 'Overloaded' },
      done: true,
      finishReason: 'interrupted',
      runId: 'run_1',
      attempts: [{ model: 'gpt', outcome: 'transient', status: 503, ms: 3 }],
    }
    const broken = openStream()
    const answers = [events(chunk('Half'), failed), eventStream(broken.readable, null)]
    const { session, last } = sessionOf(() => answers.shift() ?? new Response(''))
    await session.ask(ask('Hi?'))
    expect(last()).toMatchObject({
      text: 'Half',
      outcome: {
        state: 'failed',
        interrupted: true,
        error: { code: 'PROVIDER_ERROR', message: 'Overloaded' },
        attempts: [{ status: 503 }],
      },
    })
    const asking = session.ask(ask('Again?'))
    await broken.send(chunk('Some'))
    await broken.cut().catch(() => undefined)
    await asking
    expect(last()).toMatchObject({ outcome: { state: 'failed', error: { code: 'NETWORK_ERROR' } } })
  })

  test('[PAGE7] asking again replaces a question that was refused; a refusal keeps its wait', async () => {
    const refusal = JSON.stringify({
      success: false,
      error: { code: 'RATE_LIMITED', message: 'Slower' },
      timestamp: '2026-01-01T00:00:00Z',
      requestId: 'req_12345678',
    })
    const answers = [
      new Response(refusal, { status: 429, headers: { 'retry-after': '9' } }),
      events(chunk('Yes'), done()),
    ]
    const { session, last } = sessionOf(() => answers.shift() ?? new Response(''))
    await session.ask(ask('Hi?'))
    expect(last()?.outcome).toMatchObject({
      state: 'failed',
      error: { code: 'RATE_LIMITED', retryAfterSeconds: 9 },
    })
    await session.retry('claude')
    expect(session.store.get().turns).toHaveLength(1)
    expect(last()).toMatchObject({ question: 'Hi?', askedModel: 'claude', text: 'Yes' })
  })

  test('[PAGE7] a second question waits for the first answer', async () => {
    const stream = openStream()
    const { session, bodies } = sessionOf(() => eventStream(stream.readable))
    const asking = session.ask(ask('One?'))
    await session.ask(ask('Two?'))
    await stream.send(done())
    await stream.end()
    await asking
    expect(bodies).toHaveLength(1)
  })
})

describe('Stop before the first content', () => {
  const aborted = { ...done('0'), finishReason: 'aborted' }

  test('[PAGE41] stops the run at the server', async () => {
    const stream = openStream()
    const { session, last } = sessionOf((_signal, { method }) => {
      if (method === 'POST') return eventStream(stream.readable)
      void stream.send(aborted)
      return envelope({ runId: 'run_1', state: 'stopped' })
    })
    const asking = session.ask(ask('Hi?'))
    await shown(session, (turn) => turn.runId === 'run_1')
    await Promise.all([session.stop(), asking])
    expect(last()?.outcome).toMatchObject({ state: 'done', finishReason: 'aborted' })
  })

  test('[PAGE41] waits for a question that is still on its way, so that no run is left behind', async () => {
    const stream = openStream()
    const headers = Promise.withResolvers<Response>()
    const stops: string[] = []
    const { session, last } = sessionOf(
      (_signal, { method, url }) => {
        if (method === 'POST') return headers.promise
        stops.push(url)
        void stream.send(aborted)
        return envelope({ runId: 'run_1', state: 'stopped' })
      },
      { wait: () => new Promise(() => undefined) },
    )
    const asking = session.ask(ask('Hi?'))
    const stopping = session.stop()
    expect(last()?.outcome).toEqual({ state: 'streaming', stopping: true })
    headers.resolve(eventStream(stream.readable))
    await Promise.all([stopping, asking])
    expect(stops).toHaveLength(1)
  })
})

describe('a stored chat', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const facts: AnswerFacts = {
    runId: 'run_0',
    model: 'gpt',
    provider: 'openai/gpt',
    finishReason: 'stop',
    usage,
    cost: '0.1',
    citations: [],
    attempts: [{ model: 'gpt', outcome: 'answered', ms: 1 }],
    tools: [],
    ragContext: null,
  }
  const question = (position: number, content: string): StoredMessage => ({
    id: `msg_${position}`,
    position,
    role: 'user',
    content,
    answer: null,
    createdAt: at,
  })
  const answer = (position: number, content: string, changes: Partial<AnswerFacts> = {}): StoredMessage => ({
    ...question(position, content),
    role: 'assistant',
    answer: { ...facts, ...changes },
  })
  const page = (items: StoredMessage[], chat: { runId?: string | null; messages?: number } = {}) => ({
    kind: 'chat',
    chat: {
      id: chatId,
      title: 'T',
      workspaceId,
      model: 'gpt',
      messages: items.length,
      createdAt: at,
      updatedAt: at,
      runId: null,
      ...chat,
    },
    items,
    nextCursor: null as string | null,
  })

  test('[PAGE40] is read as turns: answers, failures, questions without an answer', async () => {
    const items = [
      question(1, 'A?'),
      answer(2, 'A.'),
      question(3, 'B?'),
      answer(4, 'B', { finishReason: 'interrupted', usage: null, cost: null }),
      question(5, 'C?'),
    ]
    const { session } = sessionOf(() => envelope(page(items)), { chatId })
    await session.read()
    expect(session.store.get().turns).toMatchObject([
      { question: 'A?', text: 'A.', askedModel: 'gpt', outcome: { state: 'done', cost: '0.1' } },
      { question: 'B?', text: 'B', outcome: { state: 'failed', interrupted: true } },
      { question: 'C?', outcome: { state: 'missing' } },
    ])
  })

  test('[PAGE41] an answer in the making is followed from its beginning', async () => {
    const asked: string[] = []
    const { session, last } = sessionOf(
      (_signal, { url }) => {
        asked.push(url)
        if (url.startsWith('/api/chat/stream')) return events(chunk('Half and whole'), done())
        return envelope(page([question(1, 'A?')], { runId: 'run_1' }))
      },
      { chatId },
    )
    await session.read()
    expect(asked[1]).toBe('/api/chat/stream?runId=run_1&lastEventId=0')
    expect(last()).toMatchObject({ question: 'A?', text: 'Half and whole', outcome: { state: 'done' } })
  })

  test('[PAGE41] an answer that was stored while its run is still ending is not followed again', async () => {
    const asked: string[] = []
    const { session, last } = sessionOf(
      (_signal, { url }) => {
        asked.push(url)
        return envelope(page([question(1, 'A?'), answer(2, 'A.', { runId: 'run_1' })], { runId: 'run_1' }))
      },
      { chatId },
    )
    await session.read()
    expect(asked).toHaveLength(1)
    expect(last()).toMatchObject({ text: 'A.', outcome: { state: 'done' } })
  })

  test('[PAGE40] earlier messages join at the seam, also between a question and its answer', async () => {
    const newest = { ...page([answer(2, 'A.'), question(3, 'B?'), answer(4, 'B.')]), nextCursor: '2' }
    const { session } = sessionOf(
      (_signal, { url }) => envelope(url.includes('cursor=2') ? page([question(1, 'A?')]) : newest),
      { chatId },
    )
    await session.read()
    expect(session.store.get().turns[0]).toMatchObject({ question: null, text: 'A.' })
    await session.readEarlier()
    expect(session.store.get().turns).toMatchObject([
      { question: 'A?', text: 'A.' },
      { question: 'B?', text: 'B.' },
    ])
    expect(session.store.get().reading).toEqual({ state: 'read', earlier: null, more: 'idle' })
  })

  test('[PAGE40] what was asked in another window is there after reading again; a refused question stays', async () => {
    const pages = [page([question(1, 'A?'), answer(2, 'A.')])]
    const { session } = sessionOf(
      (_signal, { method }) => {
        if (method === 'POST') throw new TypeError('away')
        return envelope(
          pages.shift() ??
            page([question(1, 'A?'), answer(2, 'A.'), question(3, 'Elsewhere?'), answer(4, 'Yes.')]),
        )
      },
      { chatId },
    )
    await session.read()
    await session.ask(ask('Refused?'))
    await session.read()
    expect(session.store.get().turns.map((turn) => turn.question)).toEqual(['A?', 'Elsewhere?', 'Refused?'])
  })

  test('[PAGE40] one that cannot be read says why, and can be read again', async () => {
    const answers = [new Response('', { status: 404 }), envelope(page([question(1, 'A?'), answer(2, 'A.')]))]
    const { session } = sessionOf(() => answers.shift() ?? new Response(''), { chatId })
    await session.read()
    expect(session.store.get().reading).toMatchObject({ state: 'failed', error: { status: 404 } })
    await session.read()
    expect(session.store.get().turns).toHaveLength(1)
  })

  test('[PAGE9] an unknown price is counted as unknown, not as nothing', async () => {
    const costs = ['0.1', '0.2', null]
    const items = costs.flatMap((cost, index) => [
      question(2 * index + 1, 'q'),
      answer(2 * index + 2, 'a', { cost }),
    ])
    const { session } = sessionOf(() => envelope(page(items)), { chatId })
    await session.read()
    expect(costOf(session.store.get().turns)).toEqual({ known: '0.3', unknown: 1 })
  })
})
