import { createClient } from '@atelier/client'
import { describe, expect, test } from 'vitest'
import { createStore } from '../lib/store.ts'
import { createChatSession } from './chat-session.ts'
import { type Conversation, costOf, emptyConversation, settleInterrupted, type Turn } from './conversation.ts'

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
  ragContext: { workspaceId, relevanceScore: 'high' },
  citations: [],
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

/** A session against a network that the test holds in its hands; `bodies` are the requests that went out. */
function sessionOf(answer: Answer, initial: Conversation = emptyConversation) {
  const bodies: { message: string; model: string; context: { previousMessages: unknown[] } }[] = []
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
    store: createStore<Conversation>(initial),
    schedule: (flush) => queueMicrotask(flush),
    wait: async () => undefined,
    newId: () => String(++id),
    now: () => new Date(0),
  })
  return { session, bodies, last: () => session.store.get().turns.at(-1) }
}

const eventStream = (body: BodyInit | null, runId?: string) => {
  const run: Record<string, string> = runId === undefined ? {} : { 'x-run-id': runId }
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req_12345678', ...run },
  })
}
const events = (...list: unknown[]) =>
  eventStream(list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
const ask = (question: string, model = 'gpt') => ({ question, model, files: [] })

describe('a conversation', () => {
  test('[PAGE7] an answer arrives, then holds who gave it and what it cost', async () => {
    const { session, last } = sessionOf(() => events(chunk('Hel'), chunk('lo'), done()))
    await session.ask(ask('Hi?'))
    expect(last()).toMatchObject({
      question: 'Hi?',
      text: 'Hello',
      answeredBy: { model: 'gpt', provider: 'openai/gpt' },
      outcome: { state: 'done', cost: '0.25', relevance: 'high' },
    })
  })

  test('[PAGE9] after a fallback the answer names the model that gave it, not the one that was asked', async () => {
    const { session, last } = sessionOf(() => events(chunk('x', 'claude'), done()))
    await session.ask(ask('Hi?', 'gpt'))
    expect(last()).toMatchObject({ askedModel: 'gpt', answeredBy: { model: 'claude' } })
  })

  test('[PAGE7] another model gets the whole conversation; a turn without an answer is left out', async () => {
    const answers = [
      events(chunk('One'), done()),
      new Response('', { status: 502 }),
      events(chunk('Two'), done()),
    ]
    const { session, bodies } = sessionOf(() => answers.shift() ?? new Response(''))
    await session.ask(ask('First?'))
    await session.ask(ask('Lost?'))
    await session.ask(ask('Second?', 'claude'))
    expect(bodies[2]).toMatchObject({
      model: 'claude',
      message: 'Second?',
      context: {
        previousMessages: [
          { role: 'user', content: 'First?' },
          { role: 'assistant', content: 'One' },
        ],
      },
    })
  })

  /** Resolves when the shown text is this one. */
  function shown(session: ReturnType<typeof sessionOf>['session'], text: string): Promise<void> {
    return new Promise((resolve) => {
      const unsubscribe = session.store.subscribe(() => {
        if (session.store.get().turns.at(-1)?.text !== text) return
        unsubscribe()
        resolve()
      })
    })
  }

  test('[PAGE7] Stop stops the run at the server; the answer keeps its text and what it cost', async () => {
    const stream = openStream()
    const stopped: string[] = []
    const { session, last } = sessionOf((_signal, { method, url }) => {
      if (method === 'POST') return eventStream(stream.readable, 'run_1')
      stopped.push(`${method} ${url}`)
      void stream.send({ ...done('0.1'), finishReason: 'aborted' })
      return Response.json({
        success: true,
        data: { runId: 'run_1', state: 'stopped' },
        message: '',
        timestamp: '',
        requestId: '',
      })
    })
    const asking = session.ask(ask('Hi?'))
    await stream.send(chunk('Half'))
    await shown(session, 'Half')
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
      return eventStream(stream.readable, 'run_1')
    })
    const asking = session.ask(ask('Hi?'))
    await stream.send(chunk('Half'))
    await shown(session, 'Half')
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
      return eventStream(parts.shift() ?? null, 'run_1')
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
    const { session, last } = sessionOf(() => events(chunk('Half')))
    await session.ask(ask('Hi?'))
    expect(last()).toMatchObject({
      text: 'Half',
      outcome: { state: 'failed', code: 'INTERRUPTED', requestId: 'req_12345678' },
    })
  })

  test('[PAGE7] an error in the stream, and a connection that breaks, keep what came', async () => {
    const failed = {
      error: { code: 'PROVIDER_ERROR', message: 'Overloaded' },
      done: true,
      finishReason: 'error',
      runId: 'r',
    }
    const broken = openStream()
    const answers = [events(chunk('Half'), failed), eventStream(broken.readable)]
    const { session, last } = sessionOf(() => answers.shift() ?? new Response(''))
    await session.ask(ask('Hi?'))
    expect(last()).toMatchObject({
      text: 'Half',
      outcome: { state: 'failed', code: 'PROVIDER_ERROR', message: 'Overloaded' },
    })
    const asking = session.ask(ask('Again?'))
    await broken.send(chunk('Some'))
    await broken.cut().catch(() => undefined)
    await asking
    expect(last()).toMatchObject({ outcome: { state: 'failed', code: 'NETWORK_ERROR' } })
  })

  test('[PAGE7] asking again replaces the last answer; a refusal keeps its wait', async () => {
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
    expect(last()?.outcome).toMatchObject({ state: 'failed', code: 'RATE_LIMITED', retryAfterSeconds: 9 })
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

  test('[PAGE7] a new chat can be undone', async () => {
    const { session } = sessionOf(() => events(chunk('Yes'), done()))
    await session.ask(ask('Hi?'))
    session.setModel('claude')
    const former = session.clear()
    expect(session.store.get()).toEqual({ model: 'claude', turns: [] })
    session.restore(former)
    expect(session.store.get().turns).toHaveLength(1)
  })
})

describe('what a reload finds', () => {
  const turn = (outcome: Turn['outcome']): Turn => ({
    id: '1',
    question: 'q',
    files: [],
    askedModel: 'gpt',
    askedAt: '',
    text: 'Half',
    answeredBy: null,
    runId: null,
    outcome,
  })

  test('[PAGE7] an answer that was arriving is shown as interrupted, with its text', () => {
    const settled = settleInterrupted({ model: null, turns: [turn({ state: 'streaming' })] })
    expect(settled.turns[0]).toMatchObject({
      text: 'Half',
      outcome: { state: 'failed', code: 'INTERRUPTED' },
    })
  })

  test('[PAGE7] an answer whose run is known is followed on, from its beginning', async () => {
    const left = settleInterrupted({
      model: null,
      turns: [{ ...turn({ state: 'streaming' }), runId: 'run_1' }],
    })
    const asked: string[] = []
    const { session, last } = sessionOf((_signal, { url }) => {
      asked.push(url)
      return events(chunk('Half and whole'), done())
    }, left)
    await session.resume()
    expect(asked).toEqual(['/api/chat/stream?runId=run_1&lastEventId=0'])
    expect(last()).toMatchObject({ text: 'Half and whole', outcome: { state: 'done' } })
  })

  test('[PAGE9] an unknown price is counted as unknown, not as nothing', () => {
    const priced = (cost: string | null) =>
      turn({ state: 'done', finishReason: 'stop', usage, cost, runId: 'r', relevance: null, citations: [] })
    expect(costOf([priced('0.1'), priced('0.2'), priced(null), turn({ state: 'stopped' })])).toEqual({
      known: '0.3',
      unknown: 1,
    })
  })
})
