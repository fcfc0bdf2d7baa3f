import { ApiError, type Client } from '@atelier/client'
import { readChats, type StoredChat, type StoredMessage } from '@atelier/contract'
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
  const whole = await readWholeChat(client, chatId)
  saveFile(`${fileNameOf(whole.chat.title)}.json`, 'application/json', JSON.stringify(whole, null, 2))
}

export interface WholeChat {
  chat: StoredChat
  messages: StoredMessage[]
}

/** A chat with all its messages, oldest first. */
export async function readWholeChat(client: Client, chatId: string): Promise<WholeChat> {
  const messages: StoredMessage[] = []
  for (let cursor: string | null = null; ; ) {
    const place: { cursor?: string } = cursor === null ? {} : { cursor }
    const page = await client.call(readChats, { query: { chatId, limit: messagesRead, ...place } })
    if (page.kind !== 'chat') throw new ApiError({ code: 'BAD_ANSWER', status: 200, message: 'No chat' })
    messages.unshift(...page.items)
    cursor = page.nextCursor
    if (cursor === null) return { chat: page.chat, messages }
  }
}

/** Letters, digits and dashes, which every file system takes. */
function fileNameOf(title: string): string {
  const name = title.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '')
  return name === '' ? 'chat' : name.slice(0, 60)
}
