import type { AnswerFacts } from '@atelier/contract'
import { type Selectable, sql } from 'kysely'
import type { Database } from '../../platform/db/database.ts'
import type { ChatTable } from '../../platform/db/tables.ts'
import type { AnswerStep } from './answer-steps.ts'
import type { ChatRow, ChatStore, MessageRow } from './chat-store.ts'
import { storableJson, storableText } from './storable-text.ts'

/** Conversations as rows: one a conversation, one a message. */
export function createRelationalChatStore({ database }: { database: Database }): ChatStore {
  const { kysely } = database
  return {
    async create(userId, { id, title, workspaceId }) {
      const row = await kysely
        .insertInto('chats')
        .values({ id, user_id: userId, title, workspace_id: workspaceId, model: null })
        .returningAll()
        .executeTakeFirstOrThrow()
      return toChat(row)
    },

    async find(userId, chatId) {
      const row = await kysely
        .selectFrom('chats')
        .selectAll()
        .where('id', '=', chatId)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      return row === undefined ? null : toChat(row)
    },

    async list(userId, { limit, after, search, workspaceId, among }) {
      let query = kysely.selectFrom('chats').selectAll().where('user_id', '=', userId)
      if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId)
      if (among !== undefined) {
        query = query.where(sql<boolean>`(workspace_id is null or workspace_id = any(${among}::text[]))`)
      }
      if (after !== undefined) {
        query = query.where(sql<boolean>`(updated_at, id) < (${after.updatedAt}, ${after.id})`)
      }
      if (search !== undefined) query = query.where(containing(search))
      const rows = await query.orderBy('updated_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
      return rows.map(toChat)
    },

    async messages(userId, chatId, { limit, before, withSteps }) {
      let query = kysely
        .selectFrom('chat_messages')
        .innerJoin('chats', 'chats.id', 'chat_messages.chat_id')
        .select(['chat_messages.id', 'position', 'role', 'content', 'answer', 'chat_messages.created_at'])
        .select(withSteps ? 'steps' : sql<null>`null`.as('steps'))
        .where('chats.id', '=', chatId)
        .where('chats.user_id', '=', userId)
      if (before !== undefined) query = query.where('position', '<', before)
      const rows = await query.orderBy('position', 'desc').limit(limit).execute()
      return rows.reverse().map(toMessage)
    },

    async append(userId, chatId, messages, changes = {}) {
      // The row lock of the conversation makes writers take turns, so positions have no gaps and no doubles.
      const { rows } = await sql<MessageSelection>`
        with chat as (
          update chats set messages = messages + ${messages.length}, updated_at = now(),
            model = coalesce(${changes.model ?? null}, model),
            workspace_id = coalesce(${changes.workspaceId ?? null}, workspace_id)
          where id = ${chatId} and user_id = ${userId}
          returning id, messages - ${messages.length} as before
        ), added as (
          insert into chat_messages (chat_id, position, id, role, content, answer, steps)
          select chat.id, chat.before + t.ordinal, t.id, t.role, t.content, t.answer::jsonb, t.steps
          from chat, unnest(
            ${messages.map(({ id }) => id)}::text[], ${messages.map(({ role }) => role)}::text[],
            ${messages.map(({ content }) => storableText(content))}::text[],
            ${messages.map(({ answer }) => storableJson(answer))}::text[], ${messages.map(({ steps }) => storableJson(steps))}::text[]
          ) with ordinality as t (id, role, content, answer, steps, ordinal)
          returning id, position, role, content, answer, steps, created_at
        )
        select added.* from chat left join added on true order by position`.execute(kysely)
      if (rows.length === 0) return null
      return rows.filter(({ id }) => id !== null).map(toMessage)
    },

    async rename(userId, chatId, title) {
      const row = await kysely
        .updateTable('chats')
        .set({ title })
        .where('id', '=', chatId)
        .where('user_id', '=', userId)
        .returningAll()
        .executeTakeFirst()
      return row === undefined ? null : toChat(row)
    },

    async remove(userId, chatId) {
      const row = await kysely
        .deleteFrom('chats')
        .where('id', '=', chatId)
        .where('user_id', '=', userId)
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },
  }
}

interface MessageSelection {
  id: string
  position: number
  role: 'user' | 'assistant'
  content: string
  answer: unknown
  steps: string | null
  created_at: Date
}

function containing(search: string) {
  const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`
  return sql<boolean>`(title ilike ${pattern} or exists (
    select from chat_messages where chat_messages.chat_id = chats.id and content ilike ${pattern}))`
}

function toChat(row: Selectable<ChatTable>): ChatRow {
  const { id, title, workspace_id: workspaceId, model, messages } = row
  return { id, title, workspaceId, model, messages, createdAt: row.created_at, updatedAt: row.updated_at }
}

function toMessage(row: MessageSelection): MessageRow {
  const { id, position, role, content, created_at: createdAt } = row
  // Written by `append` alone, from an AnswerFacts and from steps.
  const answer = row.answer as AnswerFacts | null
  const steps = row.steps === null ? null : (JSON.parse(row.steps) as AnswerStep[])
  return { id, position, role, content, answer, steps, createdAt }
}
