import { z } from 'zod'
import { Attempt } from './attempts.ts'
import {
  AnswerRagContext,
  ChatStreamEvent,
  Citation,
  Cost,
  chatEnhanced,
  maxMessageLength,
  maxMessages,
  ToolUse,
} from './chat.ts'
import { endpoint } from './endpoint.ts'
import { ChatId, MessageId, RunId, WorkspaceId } from './ids.ts'
import { FinishReason, ModelKey, Usage } from './models.ts'
import { PageQuery } from './paging.ts'

const tag = 'Chat'

/** Longest title of a chat in characters. */
export const maxTitleLength = 200

const Title = z.string().trim().min(1, 'must not be empty').max(maxTitleLength)
const Text = z.string().max(maxMessageLength, `must have at most ${maxMessageLength} characters`)

export const StoredChat = z.object({
  id: ChatId,
  title: z.string(),
  workspaceId: WorkspaceId.nullable().describe('what its questions are about'),
  model: z.string().nullable().describe('the model that answered last'),
  messages: z.number().int().nonnegative(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  runId: RunId.nullable().describe('the answer in the making'),
})
export type StoredChat = z.infer<typeof StoredChat>

/** What is known about a stored answer beside its text. */
export const AnswerFacts = z.object({
  runId: RunId.nullable(),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  finishReason: FinishReason,
  usage: Usage.nullable(),
  cost: Cost,
  citations: z.array(Citation),
  attempts: z.array(Attempt),
  tools: z.array(ToolUse).default([]).describe('what the model called for it'),
  ragContext: AnswerRagContext.nullable().default(null),
})
export type AnswerFacts = z.infer<typeof AnswerFacts>

export const StoredMessage = z.object({
  id: MessageId,
  position: z.number().int().min(1).describe('from 1, without gaps'),
  role: z.enum(['user', 'assistant']),
  content: z.string(),
  answer: AnswerFacts.nullable().describe('null for questions, and for answers that were not made here'),
  createdAt: z.iso.datetime(),
})
export type StoredMessage = z.infer<typeof StoredMessage>

export const startChatStream = endpoint({
  name: 'startChatStream',
  method: 'POST',
  path: '/api/chat/stream',
  tag,
  summary: 'Ask in a stored conversation; the answer goes on without its reader',
  access: 'user',
  scope: 'ai',
  rate: 'ai',
  maxBodyBytes: chatEnhanced.maxBodyBytes,
  body: z.strictObject({
    chatId: ChatId.optional().describe('a new conversation where absent'),
    message: Text.min(1, 'must not be empty'),
    model: ModelKey,
    workspaceId: WorkspaceId.optional().describe('from now on its questions are about this workspace'),
    files: z.array(z.string().max(4096)).max(50).optional(),
    enableTools: z.boolean().optional(),
    earlyHeaders: z
      .boolean()
      .optional()
      .describe(
        'answer as soon as the question is stored: the run can be stopped and resumed before its first content, the chunks tell which model answers, and a failure is a chunk',
      ),
  }),
  events: ChatStreamEvent,
  message: 'Answer streamed',
})

export const resumeChatStream = endpoint({
  name: 'resumeChatStream',
  method: 'GET',
  path: '/api/chat/stream',
  tag,
  summary: 'The events of an answer after `Last-Event-ID`, stored ones and those to come',
  access: 'user',
  scope: 'ai',
  rate: 'standard',
  query: z.strictObject({
    runId: RunId.optional(),
    chatId: ChatId.optional().describe(
      'instead of `runId`: the answer in the making of this conversation; 204 when there is none',
    ),
    lastEventId: z.coerce
      .number()
      .int()
      .nonnegative()
      .optional()
      .describe('for clients that cannot set the header'),
  }),
  events: ChatStreamEvent,
  message: 'Answer resumed',
})

export const RunState = z.enum(['running', 'finished', 'failed', 'stopped', 'lost'])
export type RunState = z.infer<typeof RunState>

export const stopChatStream = endpoint({
  name: 'stopChatStream',
  method: 'DELETE',
  path: '/api/chat/stream',
  tag,
  summary: 'Stop an answer, and the provider’s call with it; what came is kept',
  access: 'user',
  scope: 'ai',
  rate: 'standard',
  query: z.strictObject({ runId: RunId }),
  data: z.object({ runId: RunId, state: RunState }),
  message: 'Answer stopped',
})

export const readChats = endpoint({
  name: 'readChats',
  method: 'GET',
  path: '/api/chat/mongodb',
  tag,
  summary: 'The caller’s conversations, the last used first; or with `chatId` one of them with its messages',
  access: 'user',
  scope: 'ai',
  rate: 'standard',
  query: PageQuery.extend({
    chatId: ChatId.optional(),
    search: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .optional()
      .describe('text that a title or a message contains, in upper or lower case'),
    workspaceId: WorkspaceId.optional().describe('only conversations about this workspace'),
    format: z.enum(['markdown']).optional().describe('with `chatId`: the whole conversation as a document'),
  }),
  data: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('list'), items: z.array(StoredChat), nextCursor: z.string().nullable() }),
    z.object({
      kind: z.literal('chat'),
      chat: StoredChat,
      items: z
        .array(StoredMessage)
        .describe('oldest first; a page ends with the newest, `nextCursor` goes back'),
      nextCursor: z.string().nullable(),
    }),
    z.object({
      kind: z.literal('document'),
      chat: StoredChat,
      fileName: z.string(),
      mediaType: z.literal('text/markdown'),
      content: z.string(),
    }),
  ]),
  message: 'Chats read',
})

const NewMessage = z.strictObject({ role: z.enum(['user', 'assistant']), content: Text })

export const saveChat = endpoint({
  name: 'saveChat',
  method: 'POST',
  path: '/api/chat/mongodb',
  tag,
  summary: 'Create a conversation, or append messages to one',
  access: 'user',
  scope: 'ai',
  rate: 'standard',
  maxBodyBytes: chatEnhanced.maxBodyBytes,
  body: z.strictObject({
    chatId: ChatId.optional().describe('a new conversation where absent'),
    title: Title.optional().describe('of a new conversation; else its first question'),
    workspaceId: WorkspaceId.optional().describe('of a new conversation'),
    messages: z.array(NewMessage).max(maxMessages).optional(),
  }),
  data: z.object({ chat: StoredChat, items: z.array(StoredMessage).describe('what was appended') }),
  status: 201,
  message: 'Chat saved',
})

export const renameChat = endpoint({
  name: 'renameChat',
  method: 'PATCH',
  path: '/api/chat/mongodb',
  tag,
  summary: 'Give a conversation another title',
  access: 'user',
  scope: 'ai',
  rate: 'standard',
  body: z.strictObject({ chatId: ChatId, title: Title }),
  data: StoredChat,
  message: 'Chat renamed',
})

export const deleteChat = endpoint({
  name: 'deleteChat',
  method: 'DELETE',
  path: '/api/chat/mongodb',
  tag,
  summary: 'Delete a conversation with all its messages; an answer in the making is stopped',
  access: 'user',
  scope: 'ai',
  rate: 'standard',
  query: z.strictObject({ chatId: ChatId }),
  data: z.object({ id: ChatId }),
  message: 'Chat deleted',
})
