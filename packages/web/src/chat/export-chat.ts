import type { Client } from '@atelier/client'
import { readChats, type StoredMessage } from '@atelier/contract'
import { saveFile } from '../lib/save-file.ts'

/** Messages read at once: the most the interface gives. */
const messagesRead = 200

/** Saves a chat as a Markdown document, for people. */
export async function exportMarkdown(client: Client, chatId: string): Promise<void> {
  const read = await client.call(readChats, { query: { chatId, format: 'markdown' } })
  if (read.kind === 'document') saveFile(read.fileName, read.mediaType, read.content)
}

/** Saves a chat with all that is known about its answers, for programs. */
export async function exportJson(client: Client, chatId: string): Promise<void> {
  const messages: StoredMessage[] = []
  let cursor: string | null = null
  do {
    const query: { chatId: string; limit: number; cursor?: string } = { chatId, limit: messagesRead }
    if (cursor !== null) query.cursor = cursor
    const page = await client.call(readChats, { query })
    if (page.kind !== 'chat') return
    messages.unshift(...page.items)
    cursor = page.nextCursor
    if (cursor === null) {
      const content = JSON.stringify({ chat: page.chat, messages }, null, 2)
      saveFile(`${fileNameOf(page.chat.title)}.json`, 'application/json', content)
    }
  } while (cursor !== null)
}

/** Letters, digits and dashes, which every file system takes. */
function fileNameOf(title: string): string {
  const name = title.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '')
  return name === '' ? 'chat' : name.slice(0, 60)
}
