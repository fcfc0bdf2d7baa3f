import { setTimeout as wait } from 'node:timers/promises'
import type { AnswerFacts } from '@atelier/contract'
import type { Collection, Filter } from 'mongodb'
import { AppError } from '../../base/app-error.ts'
import { isDuplicateKey, type Mongo } from '../../platform/db/mongo.ts'
import type { AnswerStep } from './answer-steps.ts'
import type { ChatRow, ChatStore, MessageRow } from './chat-store.ts'
import { storableJson, storableText } from './storable-text.ts'

/** A conversation without its messages. */
interface ChatDocument {
  _id: string
  userId: string
  workspaceId: string | null
  title: string
  model: string | null
  messages: number
  createdAt: Date
  updatedAt: Date
  /** appended, but not yet among the messages: what makes an append of several whole without a transaction */
  pending: MessageDocument[]
  /** there is something to finish: messages that are pending, or a deletion */
  unfinished?: true
  deleted?: true
}

interface MessageDocument {
  _id: string
  chatId: string
  userId: string
  position: number
  role: 'user' | 'assistant'
  content: string
  /** JSON, like `steps`: both are read whole, and may have keys that MongoDB does not take */
  answer: string | null
  steps: string | null
  createdAt: Date
}

/** Times that an append is tried while others append to the same conversation, and the longest pause between. */
const mostTries = 100
const pauseMilliseconds = 20

/** How long a search through all messages of a person may take. */
const searchMilliseconds = 10_000

/**
 * Conversations as documents: one a conversation, one a message. Works on a single server too, which has no
 * transactions: an append is one write to its conversation, and its messages are moved to their own documents then, by
 * whoever comes next if not at once. Opening finishes what a former process has left.
 */
export async function openMongoChatStore(mongo: Mongo): Promise<ChatStore> {
  const store = createStore(mongo)
  await store.prepare()
  return store
}

function createStore({ use }: Mongo): ChatStore & { prepare(): Promise<void> } {
  type Collections = { chats: Collection<ChatDocument>; messages: Collection<MessageDocument> }
  const on = <Result>(work: (collections: Collections) => Promise<Result>) =>
    use((database) =>
      work({ chats: database.collection('chats'), messages: database.collection('chatMessages') }),
    )

  async function find(userId: string, chatId: string): Promise<ChatDocument | null> {
    const chat = await on(({ chats }) => chats.findOne({ _id: chatId, userId, deleted: { $exists: false } }))
    if (chat !== null && chat.pending.length > 0) await settle(chat)
    return chat
  }

  /** Gives pending messages their own documents. Whoever does it twice, or at the same time, changes nothing. */
  async function settle({ _id, pending }: ChatDocument): Promise<void> {
    const [first] = pending
    if (first === undefined) return
    await on(async ({ chats, messages }) => {
      await messages.insertMany(pending, { ordered: false }).catch((error: unknown) => {
        if (!isDuplicateKey(error)) throw error
      })
      const settled = { $set: { pending: [] }, $unset: { unfinished: true as const } }
      await chats.updateOne({ _id, 'pending._id': first._id, deleted: { $exists: false } }, settled)
      // Deleted meanwhile.
      const there = await chats.countDocuments({ _id, deleted: { $exists: false } }, { limit: 1 })
      if (there === 0) await messages.deleteMany({ chatId: _id })
    })
  }

  async function erase(chatId: string): Promise<void> {
    await on(async ({ chats, messages }) => {
      await messages.deleteMany({ chatId })
      await chats.deleteOne({ _id: chatId, deleted: true })
    })
  }

  return {
    async prepare() {
      const left = await on(async ({ chats, messages }) => {
        await chats.createIndex({ userId: 1, updatedAt: -1, _id: -1 })
        await chats.createIndex({ unfinished: 1 }, { sparse: true })
        await messages.createIndex({ chatId: 1, position: 1 }, { unique: true })
        await messages.createIndex({ userId: 1 })
        return chats.find({ unfinished: true }).toArray()
      })
      for (const chat of left) await (chat.deleted ? erase(chat._id) : settle(chat))
    },

    async create(userId, { id, title, workspaceId }) {
      const now = new Date()
      const facts = { _id: id, userId, workspaceId, title, model: null, messages: 0 }
      const chat: ChatDocument = { ...facts, createdAt: now, updatedAt: now, pending: [] }
      await on(({ chats }) => chats.insertOne(chat))
      return toChat(chat)
    },

    async find(userId, chatId) {
      const chat = await find(userId, chatId)
      return chat === null ? null : toChat(chat)
    },

    list: (userId, { limit, after, search, workspaceId, among }) =>
      on(async ({ chats, messages }) => {
        const conditions: Filter<ChatDocument>[] = [{ userId, deleted: { $exists: false } }]
        if (workspaceId !== undefined) conditions.push({ workspaceId })
        if (among !== undefined) conditions.push({ workspaceId: { $in: [null, ...among] } })
        if (after !== undefined) {
          const { updatedAt, id } = after
          conditions.push({ $or: [{ updatedAt: { $lt: updatedAt } }, { updatedAt, _id: { $lt: id } }] })
        }
        if (search !== undefined) {
          const text = { $regex: literal(search), $options: 'i' }
          const found = await messages.distinct(
            'chatId',
            { userId, content: text },
            { maxTimeMS: searchMilliseconds },
          )
          conditions.push({ $or: [{ title: text }, { _id: { $in: found } }, { 'pending.content': text }] })
        }
        const rows = await chats
          .find({ $and: conditions })
          .sort({ updatedAt: -1, _id: -1 })
          .limit(limit)
          .toArray()
        return rows.map(toChat)
      }),

    async messages(userId, chatId, { limit, before, withSteps = false }) {
      const chat = await find(userId, chatId)
      if (chat === null) return []
      const position = { $lt: before ?? chat.messages + 1 }
      const rows = await on(({ messages }) =>
        messages
          .find({ chatId, position }, withSteps ? {} : { projection: { steps: 0 } })
          .sort({ position: -1 })
          .limit(limit)
          .toArray(),
      )
      return rows.reverse().map(toMessage)
    },

    async append(userId, chatId, added, changes = {}) {
      for (let tries = 0; tries < mostTries; tries += 1) {
        const chat = await find(userId, chatId)
        if (chat === null) return null
        const createdAt = new Date()
        const pending = added.map(({ id: _id, role, content, answer, steps }, index) => ({
          _id,
          chatId,
          userId,
          position: chat.messages + index + 1,
          role,
          content: storableText(content),
          answer: storableJson(answer),
          steps: storableJson(steps),
          createdAt,
        }))
        const updated = await on(({ chats }) =>
          chats.findOneAndUpdate(
            // Nobody else has appended since, and nothing waits to be moved.
            { _id: chatId, userId, messages: chat.messages, pending: [], deleted: { $exists: false } },
            {
              $set: { ...changes, pending, unfinished: true, messages: chat.messages + added.length },
              $currentDate: { updatedAt: true },
            },
            { returnDocument: 'after' },
          ),
        )
        if (updated !== null) {
          await settle(updated)
          return pending.map(toMessage)
        }
        await wait(Math.random() * pauseMilliseconds)
      }
      throw new AppError('CONFLICT', 'Others write to this conversation all the time; try again')
    },

    async rename(userId, chatId, title) {
      const chat = await on(({ chats }) =>
        chats.findOneAndUpdate(
          { _id: chatId, userId, deleted: { $exists: false } },
          { $set: { title } },
          { returnDocument: 'after' },
        ),
      )
      return chat === null ? null : toChat(chat)
    },

    async remove(userId, chatId) {
      // From here on it is not there for anybody; what a crash leaves is erased at the next start.
      const found = await on(({ chats }) =>
        chats.updateOne(
          { _id: chatId, userId, deleted: { $exists: false } },
          { $set: { deleted: true, unfinished: true } },
        ),
      )
      if (found.matchedCount === 0) return false
      await erase(chatId)
      return true
    },
  }
}

/** A text as a regular expression that matches it alone. */
function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function toChat({
  _id: id,
  title,
  workspaceId,
  model,
  messages,
  createdAt,
  updatedAt,
}: ChatDocument): ChatRow {
  return { id, title, workspaceId, model, messages, createdAt, updatedAt }
}

function toMessage(
  document: Omit<MessageDocument, 'steps'> & Partial<Pick<MessageDocument, 'steps'>>,
): MessageRow {
  const { _id: id, position, role, content, answer, steps = null, createdAt } = document
  // Written by `append` alone, from an AnswerFacts and from steps.
  const facts = answer === null ? null : (JSON.parse(answer) as AnswerFacts)
  const kept = steps === null ? null : (JSON.parse(steps) as AnswerStep[])
  return { id, position, role, content, answer: facts, steps: kept, createdAt }
}
