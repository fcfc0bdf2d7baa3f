import type { AnswerFacts, StoredMessage } from '@atelier/contract'
import { describe, expect, test } from 'vitest'
import {
  ask,
  chatId,
  chunk,
  done,
  envelope,
  events,
  sessionOf,
  usage,
  workspaceId,
} from './chat-session-network.ts'
import { costOf } from './turn.ts'

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

  test('[PAGE40] a question that is refused because another window asked first stays, and that answer is followed', async () => {
    const stored = [question(1, 'A?'), answer(2, 'A.')]
    const pages = [page(stored), page([...stored, question(3, 'Elsewhere?')], { runId: 'run_9' })]
    const { session } = sessionOf(
      (_signal, { method, url }) => {
        if (method === 'POST') return new Response('', { status: 409 })
        if (url.startsWith('/api/chat/stream')) return events(chunk('Yes.'), done())
        return envelope(pages.shift() ?? page([]))
      },
      { chatId },
    )
    await session.read()
    await session.ask(ask('Here?'))
    await session.read()
    expect(session.store.get().turns.slice(1)).toMatchObject([
      { question: 'Elsewhere?', text: 'Yes.', outcome: { state: 'done' } },
      { question: 'Here?', outcome: { state: 'failed' } },
    ])
    expect(session.store.get().messages).toBe(4)
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
