import { createClient } from '@atelier/client'
import { QueryClient } from '@tanstack/react-query'
import { describe, expect, test } from 'vitest'
import { createChatSessions } from './chat-sessions.ts'

const chatId = 'chat_01JD8XQ4ZK3V5N6P7R8S9T0ABC'
const place = { userId: 'usr_1', workspaceId: 'ws_01JD8XQ4ZK3V5N6P7R8S9T0ABC', chatId: null }

/** Storage as a browser has it. */
function memoryStorage(): Storage {
  const values = new Map<string, string>()
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
  } as Storage
}

function sessionsOf(storage = memoryStorage()) {
  const stored: string[] = []
  const client = createClient({
    baseUrl: '',
    fetch: async (_input, init) => {
      if (init?.method !== 'POST') return new Response('', { status: 404 })
      const headers = { 'content-type': 'text/event-stream', 'x-run-id': 'run_1', 'x-chat-id': chatId }
      const last = {
        error: { code: 'TIMEOUT', message: '' },
        done: true,
        finishReason: 'error',
        runId: 'run_1',
      }
      return new Response(`id: 1\ndata: ${JSON.stringify({ ...last, attempts: [] })}\n\n`, { headers })
    },
  })
  const onStored = (_workspaceId: string, id: string) => void stored.push(id)
  return {
    stored,
    sessions: createChatSessions({ client, queryClient: new QueryClient(), storage, onStored }),
  }
}

describe('the chats that the page holds', () => {
  test('[PAGE40] a chat that begins goes on under its id; the address without one begins another', async () => {
    const { sessions, stored } = sessionsOf()
    const begun = sessions.of(place)
    expect(sessions.of(place)).toBe(begun)
    await begun.ask({ question: 'Hi?', model: 'gpt', files: [], tools: true })
    expect(stored).toEqual([chatId])
    expect(sessions.of({ ...place, chatId })).toBe(begun)
    expect(sessions.of(place)).not.toBe(begun)
  })

  test('[PAGE40] a person never gets another person’s chat', () => {
    const { sessions } = sessionsOf()
    expect(sessions.of({ ...place, userId: 'usr_2', chatId })).not.toBe(sessions.of({ ...place, chatId }))
  })

  test('[PAGE40] a bounded number of chats is held, and the one in use stays', () => {
    const { sessions } = sessionsOf()
    const used = sessions.of({ ...place, chatId: 'used' })
    const first = sessions.of({ ...place, chatId: 'first' })
    for (let count = 0; count < 30; count += 1) {
      sessions.of({ ...place, chatId: `chat ${count}` })
      expect(sessions.of({ ...place, chatId: 'used' })).toBe(used)
    }
    expect(sessions.of({ ...place, chatId: 'first' })).not.toBe(first)
  })

  test('[PAGE7, PAGE42] the chosen model, and whether it may use tools, stay chosen after a reload', () => {
    const storage = memoryStorage()
    const { sessions } = sessionsOf(storage)
    expect(sessions.tools.get()).toBe(true)
    sessions.model.set('claude')
    sessions.tools.set(false)
    expect(sessionsOf(storage).sessions.model.get()).toBe('claude')
    expect(sessionsOf(storage).sessions.tools.get()).toBe(false)
  })
})
