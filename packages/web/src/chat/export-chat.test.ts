import { createClient } from '@atelier/client'
import { expect, test } from 'vitest'
import { readWholeChat } from './export-chat.ts'

const chatId = 'chat_01JD8XQ4ZK3V5N6P7R8S9T0ABC'

test('[PAGE40] a saved chat has all its messages in order, however many pages they take', async () => {
  const pages = new Map([
    [null, { items: [{ position: 3 }, { position: 4 }], nextCursor: '3' }],
    ['3', { items: [{ position: 1 }, { position: 2 }], nextCursor: null }],
  ])
  const client = createClient({
    baseUrl: 'http://localhost',
    fetch: async (input) => {
      const page = pages.get(new URL(String(input)).searchParams.get('cursor'))
      const data = { kind: 'chat', chat: { id: chatId, title: 'T' }, ...page }
      return Response.json({ success: true, data, message: '', timestamp: '', requestId: '' })
    },
  })
  const { chat, messages } = await readWholeChat(client, chatId)
  expect(chat.title).toBe('T')
  expect(messages.map(({ position }) => position)).toEqual([1, 2, 3, 4])
})
