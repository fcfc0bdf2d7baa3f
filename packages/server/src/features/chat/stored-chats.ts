import type { StoredChat, StoredMessage } from '@atelier/contract'
import { AppError, invalidField, notFound } from '../../base/app-error.ts'
import { newId } from '../../base/ids.ts'
import { type Principal, workspacesOf } from '../../platform/identity/principal.ts'
import type { AnswerContext, WorkspaceGuard } from './answer-context.ts'
import { chatDocument } from './chat-document.ts'
import type { AnswerKeeping } from './chat-service.ts'
import type { ChatCursor, ChatRow, ChatStore, MessageRow } from './chat-store.ts'
import type { SpokenMessage } from './conversation.ts'
import type { Runs } from './runs.ts'
import { storableText } from './storable-text.ts'
import { storedAnswerOf, unstored } from './stored-answer.ts'

/** The conversations of people. All of it is the caller's own; somebody else's is not there. */
export interface StoredChats {
  list(principal: Principal, query: ListQuery): Promise<{ items: StoredChat[]; nextCursor: string | null }>
  read(
    principal: Principal,
    chatId: string,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<{ chat: StoredChat; items: StoredMessage[]; nextCursor: string | null }>
  document(
    principal: Principal,
    chatId: string,
  ): Promise<{ chat: StoredChat; fileName: string; content: string }>
  create(
    principal: Principal,
    chat: { title?: string | undefined; workspaceId?: string | undefined; messages: readonly NewTurn[] },
  ): Promise<SavedChat>
  append(principal: Principal, chatId: string, messages: readonly NewTurn[]): Promise<SavedChat>
  rename(principal: Principal, chatId: string, title: string): Promise<StoredChat>
  remove(principal: Principal, chatId: string): Promise<void>
  /** The turns before the next question, and what it is about. `undefined`: a new conversation. */
  history(principal: Principal, chatId: string | undefined): Promise<ChatHistory>
  /** Stores a question before it is answered, and the answer before its readers hear the end. */
  keeping(turn: KeptTurn): (context: AnswerContext) => AnswerKeeping
}

export interface NewTurn {
  role: 'user' | 'assistant'
  content: string
}

export interface SavedChat {
  chat: StoredChat
  items: StoredMessage[]
}

export interface ChatHistory {
  /** of a conversation that is not stored yet: the id it will have */
  chatId: string
  exists: boolean
  workspaceId: string | null
  turns: SpokenMessage[]
}

export interface KeptTurn {
  userId: string
  history: ChatHistory
  question: string
  workspaceId: string | undefined
}

export interface ListQuery {
  limit: number
  cursor?: string | undefined
  search?: string | undefined
  workspaceId?: string | undefined
}

interface Logger {
  error(fields: object, message: string): void
}

/** Most turns that go into a prompt: more than any window holds of usual ones. */
const mostTurns = 500

/** Messages read at a time for a document. */
const pageOfDocument = 200

export function createStoredChats(dependencies: {
  store: ChatStore
  runs: Pick<Runs, 'runningIn' | 'stop'>
  guard: WorkspaceGuard
  logger: Logger
}): StoredChats {
  const { store, runs, guard, logger } = dependencies

  async function present(userId: string, rows: readonly ChatRow[]): Promise<StoredChat[]> {
    const running = await runs.runningIn(
      userId,
      rows.map(({ id }) => id),
    )
    return rows.map((row) => toStoredChat(row, running.get(row.id) ?? null))
  }

  async function presentOne(userId: string, row: ChatRow | null): Promise<StoredChat> {
    if (row === null) throw notFound('Chat')
    const [chat] = await present(userId, [row])
    return chat as StoredChat
  }

  const get = async (userId: string, chatId: string) => presentOne(userId, await store.find(userId, chatId))

  /** A key made for some workspaces sees no conversation about another. */
  async function admit(principal: Principal, chatId: string): Promise<void> {
    const among = workspacesOf(principal)
    if (among === null) return
    const chat = await store.find(principal.userId, chatId)
    if (chat?.workspaceId != null && !among.includes(chat.workspaceId)) throw notFound('Chat')
  }

  async function append(userId: string, chatId: string, turns: readonly NewTurn[]): Promise<SavedChat> {
    const rows = turns.map(({ role, content }) => ({
      id: newId('message'),
      role,
      content,
      answer: null,
      steps: null,
    }))
    const items = rows.length === 0 ? [] : await store.append(userId, chatId, rows)
    if (items === null) throw notFound('Chat')
    return { chat: await get(userId, chatId), items: items.map(toStoredMessage) }
  }

  /** A conversation goes on when its workspace is gone, or no longer the person's. */
  async function stillOpen(principal: Principal, workspaceId: string | null): Promise<string | null> {
    if (workspaceId === null) return null
    try {
      return (await guard(principal, workspaceId, 'viewer')).workspaceId
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return null
      throw error
    }
  }

  return {
    async list(principal, { limit, cursor, search, workspaceId }) {
      const { userId } = principal
      const among = workspacesOf(principal)
      const rows = await store.list(userId, {
        limit: limit + 1,
        ...(cursor === undefined ? {} : { after: readListCursor(cursor) }),
        ...(search === undefined ? {} : { search: storableText(search) }),
        ...(workspaceId === undefined ? {} : { workspaceId }),
        ...(among === null ? {} : { among }),
      })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      const more = rows.length > limit && last !== undefined
      return { items: await present(userId, page), nextCursor: more ? writeListCursor(last) : null }
    },

    async read(principal, chatId, { limit, cursor }) {
      await admit(principal, chatId)
      const { userId } = principal
      const chat = await get(userId, chatId)
      const before = cursor === undefined ? undefined : readMessageCursor(cursor)
      const rows = await store.messages(userId, chatId, {
        limit,
        ...(before === undefined ? {} : { before }),
      })
      const first = rows[0]
      const more = first !== undefined && first.position > 1
      return { chat, items: rows.map(toStoredMessage), nextCursor: more ? String(first.position) : null }
    },

    async document(principal, chatId) {
      await admit(principal, chatId)
      const { userId } = principal
      const chat = await get(userId, chatId)
      const messages: MessageRow[] = []
      for (let before = chat.messages + 1; before > 1; ) {
        const page = await store.messages(userId, chatId, { limit: pageOfDocument, before })
        messages.unshift(...page)
        before = page[0]?.position ?? 1
      }
      return { chat, ...chatDocument(chat, messages) }
    },

    async create(principal, { title, workspaceId, messages }) {
      if (workspaceId !== undefined) await guard(principal, workspaceId, 'viewer')
      const id = newId('chat')
      const first = messages.find(({ role }) => role === 'user')?.content
      await store.create(principal.userId, {
        id,
        title: title === undefined ? titleOf(first ?? '') : storableText(title),
        workspaceId: workspaceId ?? null,
      })
      return append(principal.userId, id, messages)
    },

    async append(principal, chatId, messages) {
      await admit(principal, chatId)
      return append(principal.userId, chatId, messages)
    },

    async rename(principal, chatId, title) {
      await admit(principal, chatId)
      const { userId } = principal
      return presentOne(userId, await store.rename(userId, chatId, storableText(title)))
    },

    async remove(principal, chatId) {
      await admit(principal, chatId)
      const { userId } = principal
      const running = (await runs.runningIn(userId, [chatId])).get(chatId)
      if (running !== undefined) await runs.stop(userId, running)
      if (!(await store.remove(userId, chatId))) throw notFound('Chat')
    },

    async history(principal, chatId) {
      const { userId } = principal
      if (chatId === undefined) return { chatId: newId('chat'), exists: false, workspaceId: null, turns: [] }
      await admit(principal, chatId)
      const chat = await store.find(userId, chatId)
      if (chat === null) throw notFound('Chat')
      const rows = await store.messages(userId, chatId, { limit: mostTurns, withSteps: true })
      const turns = rows.map(({ role, content, steps }) => ({ role, content, ...(steps && { steps }) }))
      return { chatId, exists: true, workspaceId: await stillOpen(principal, chat.workspaceId), turns }
    },

    keeping:
      ({ userId, history, question, workspaceId }) =>
      (context) => {
        const { chatId, exists } = history
        return {
          chatId,
          async begin() {
            if (!exists) {
              const workspace = workspaceId ?? null
              await store.create(userId, { id: chatId, title: titleOf(question), workspaceId: workspace })
            }
            const id = newId('message')
            const asked = { id, role: 'user' as const, content: question, answer: null, steps: null }
            const changes = workspaceId === undefined ? {} : { workspaceId }
            if ((await store.append(userId, chatId, [asked], changes)) === null) throw notFound('Chat')
          },
          async keep(ended) {
            const answer = await storedAnswerOf(ended)
            try {
              const model = ended.model === null ? {} : { model: ended.model.key }
              if ((await store.append(userId, chatId, [answer], model)) === null) throw notFound('Chat')
            } catch (error) {
              logger.error({ err: error, runId: context.runId }, 'an answer is not stored')
              return unstored(context, ended.chunk)
            }
            return 'error' in ended.chunk ? ended.chunk : { ...ended.chunk, chatId, messageId: answer.id }
          },
        }
      },
  }
}

/** Characters of a title that is made from a question. */
const titleLength = 80

function titleOf(question: string): string {
  const line = storableText(question).replace(/\s+/g, ' ').trim()
  if (line === '') return 'New chat'
  return line.length > titleLength ? `${line.slice(0, titleLength).trimEnd()}…` : line
}

function writeListCursor({ updatedAt, id }: ChatRow): string {
  return `${updatedAt.getTime()}.${id}`
}

function readListCursor(cursor: string): ChatCursor {
  const [, time, id] = /^(\d{1,15})\.(chat_[0-9A-Z]{26})$/.exec(cursor) ?? []
  if (time === undefined || id === undefined) throw invalidField('cursor', 'is not one that this list gave')
  return { updatedAt: new Date(Number(time)), id }
}

function readMessageCursor(cursor: string): number {
  if (!/^\d{1,9}$/.test(cursor)) throw invalidField('cursor', 'is not one that this chat gave')
  return Number(cursor)
}

function toStoredChat(row: ChatRow, runId: string | null): StoredChat {
  const { createdAt, updatedAt } = row
  return { ...row, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString(), runId }
}

function toStoredMessage({ steps: _, ...row }: MessageRow): StoredMessage {
  return { ...row, createdAt: row.createdAt.toISOString() }
}
