import type { AnswerFacts } from '@atelier/contract'
import type { AnswerStep } from './answer-steps.ts'

/** A conversation as a store keeps it. */
export interface ChatRow {
  id: string
  title: string
  workspaceId: string | null
  model: string | null
  /** how many messages it has, which is the position of the last */
  messages: number
  createdAt: Date
  updatedAt: Date
}

export interface MessageRow {
  id: string
  /** from 1, without gaps */
  position: number
  role: 'user' | 'assistant'
  content: string
  answer: AnswerFacts | null
  /** what an answer with tools consists of, for the next question */
  steps: readonly AnswerStep[] | null
  createdAt: Date
}

export type NewMessageRow = Omit<MessageRow, 'position' | 'createdAt'>

/** Where a list goes on: after the conversation with these values. */
export interface ChatCursor {
  updatedAt: Date
  id: string
}

export interface ChatListQuery {
  limit: number
  after?: ChatCursor
  search?: string
  workspaceId?: string
  /** those about one of these workspaces, or about none */
  among?: readonly string[]
}

/**
 * Keeps conversations: rows in the database, or documents in MongoDB. Every call names the person; what belongs to
 * somebody else is not there.
 */
export interface ChatStore {
  create(userId: string, chat: { id: string; title: string; workspaceId: string | null }): Promise<ChatRow>
  find(userId: string, chatId: string): Promise<ChatRow | null>
  /** The last used first. `search`: a text that the title or a message contains, in upper or lower case. */
  list(userId: string, query: ChatListQuery): Promise<ChatRow[]>
  /**
   * The newest messages before a position, oldest first; `[]` for somebody else's conversation. `steps` are null unless
   * asked for.
   */
  messages(
    userId: string,
    chatId: string,
    query: { limit: number; before?: number; withSteps?: boolean },
  ): Promise<MessageRow[]>
  /** Adds messages at the end, all or none, and touches the conversation. Null when it is not there. */
  append(
    userId: string,
    chatId: string,
    messages: readonly NewMessageRow[],
    changes?: { model?: string; workspaceId?: string },
  ): Promise<MessageRow[] | null>
  /** Null when it is not there. */
  rename(userId: string, chatId: string, title: string): Promise<ChatRow | null>
  /** False when it is not there. */
  remove(userId: string, chatId: string): Promise<boolean>
}
