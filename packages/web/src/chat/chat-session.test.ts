import { describe, expect, test } from 'vitest'
import {
  ask,
  chatId,
  chunk,
  done,
  envelope,
  eventStream,
  events,
  lines,
  openStream,
  sessionOf,
  shown,
  withText,
  workspaceId,
} from './chat-session-network.ts'

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
    await session.retry({ model: 'claude', tools: true })
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
