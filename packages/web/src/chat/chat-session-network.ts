import { createClient } from '@atelier/client'
import { createChatSession } from './chat-session.ts'
import type { Turn } from './turn.ts'

export const chatId = 'chat_01JD8XQ4ZK3V5N6P7R8S9T0ABC'
export const workspaceId = 'ws_01JD8XQ4ZK3V5N6P7R8S9T0ABC'
export const usage = {
  inputTokens: 10,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 5,
  reasoningTokens: 0,
  estimated: false,
}
export const chunk = (content: string, model = 'gpt') => ({
  content,
  model,
  provider: `openai/${model}`,
  timestamp: '2026-01-01T00:00:00Z',
  ragActive: true,
  toolsEnabled: false,
  tokenCount: 1,
})
export const done = (cost: string | null = '0.25') => ({
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
export function openStream() {
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
export function sessionOf(answer: Answer, options: { chatId?: string; wait?: () => Promise<void> } = {}) {
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

export const eventStream = (body: BodyInit | null, runId: string | null = 'run_1') => {
  const ids: Record<string, string> = runId === null ? {} : { 'x-run-id': runId, 'x-chat-id': chatId }
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req_12345678', ...ids },
  })
}
export const lines = (list: unknown[]) => list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
export const events = (...list: unknown[]) => eventStream(lines(list))
export const envelope = (data: unknown) =>
  Response.json({ success: true, data, message: '', timestamp: '', requestId: '' })
export const ask = (question: string, model = 'gpt') => ({ question, model, files: [], tools: true })

/** Resolves when the last turn is as wanted. */
export function shown({ store }: ReturnType<typeof sessionOf>['session'], wanted: (turn: Turn) => boolean) {
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
export const withText = (text: string) => (turn: Turn) => turn.text === text
