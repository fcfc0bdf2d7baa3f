import { z } from 'zod'
import { Attempt } from './attempts.ts'
import { endpoint } from './endpoint.ts'
import { FailureEnvelope } from './envelope.ts'
import { ChatId, MessageId, RunId, WorkspaceId } from './ids.ts'
import { FinishReason, ModelCatalog, ModelKey, Money, Usage } from './models.ts'
import { RelevanceScore } from './retrieval.ts'

const tag = 'AI'

/** Longest message in characters (UTF-16 units): about 50,000 tokens of prose. */
export const maxMessageLength = 200_000

/** Most turns of a conversation in one request. */
export const maxMessages = 500

const Content = z.string().max(maxMessageLength, `must have at most ${maxMessageLength} characters`)

export const ChatMessage = z.strictObject({
  role: z.enum(['system', 'user', 'assistant']),
  content: Content,
})
export type ChatMessage = z.infer<typeof ChatMessage>

/** Most parts of a message of `useChat`: text, calls of tools, sources. */
const maxMessageParts = 1_000

/** A message in its plain form, or as the AI SDK's `useChat` sends it, of which the text counts. */
export const ConversationMessage = z
  .strictObject({
    role: ChatMessage.shape.role,
    content: Content.optional(),
    parts: z
      .array(z.looseObject({ type: z.string(), text: z.unknown().optional() }))
      .max(maxMessageParts)
      .optional()
      .describe('instead of `content`: those of type `text` are joined'),
    id: z.string().max(200).optional(),
    metadata: z.unknown().optional(),
  })
  .transform(({ role, content, parts }, context): ChatMessage => {
    if (content === undefined && parts === undefined) {
      context.addIssue({ code: 'custom', path: ['content'], message: 'is missing' })
    }
    const text = content ?? parts?.map(textOfPart).join('') ?? ''
    if (text.length > maxMessageLength) {
      const message = `must have at most ${maxMessageLength} characters`
      context.addIssue({ code: 'custom', path: ['parts'], message })
    }
    return { role, content: text }
  })

function textOfPart({ type, text }: { type: string; text?: unknown }): string {
  return type === 'text' && typeof text === 'string' ? text : ''
}

export const Citation = z.object({
  path: z.string(),
  startLine: z.number().int().min(1),
  endLine: z.number().int().min(1),
  contentSha256: z
    .string()
    .describe('of the file that was cited: another value means the file has changed since'),
})
export type Citation = z.infer<typeof Citation>

/** Money is a decimal string in USD; null where a price is not known. */
export const Cost = Money.nullable()

/** Bytes of a JSON body that may hold a whole conversation. */
const maxChatBodyBytes = 8 * 1024 * 1024

export const listModels = endpoint({
  name: 'listModels',
  method: 'GET',
  path: '/api/ai/models',
  tag,
  summary: 'Every model, its price and whether it can be used now; the recommended model of each task',
  access: 'user',
  scope: 'ai',
  rate: 'standard',
  data: ModelCatalog,
  message: 'Models listed',
})

export const chat = endpoint({
  name: 'chat',
  method: 'POST',
  path: '/api/ai/chat',
  tag,
  summary: 'One answer to a conversation, whole',
  access: 'user',
  scope: 'ai',
  rate: 'ai',
  maxBodyBytes: maxChatBodyBytes,
  body: z.strictObject({
    messages: z.array(ChatMessage).min(1, 'must not be empty').max(maxMessages),
    model: ModelKey.optional(),
    temperature: z.number().min(0).max(2).optional(),
    maxTokens: z.number().int().min(1).max(1_000_000).optional(),
    workspaceId: WorkspaceId.optional().describe('answer from this workspace’s code'),
  }),
  data: z.object({
    message: z.object({ role: z.literal('assistant'), content: z.string() }),
    model: z.string(),
    provider: z.string(),
    finishReason: FinishReason,
    usage: Usage,
    cost: Cost,
    citations: z.array(Citation).optional(),
  }),
  message: 'Chat completed',
})

/** Section 2.6: metadata of each chunk. */
export const ChatChunk = z.object({
  content: z.string().describe('the text that this chunk adds'),
  model: z.string(),
  provider: z.string(),
  timestamp: z.iso.datetime(),
  ragActive: z.boolean(),
  toolsEnabled: z.boolean(),
  tokenCount: z.number().int().describe('estimated tokens of the answer so far'),
})
export type ChatChunk = z.infer<typeof ChatChunk>

const Attempts = z.array(Attempt).default([]).describe('every model that was asked, in order')

/** A call of a tool by the model, when it begins and when it has ended. */
export const ToolUse = z.object({
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()).describe('what the model asked for'),
  state: z.enum(['running', 'done', 'failed']),
  summary: z.string().nullable().describe('what came of it, in a line; null while it runs'),
  result: z
    .string()
    .nullable()
    .default(null)
    .describe('the beginning of what the model got; null while it runs'),
  ms: z
    .number()
    .int()
    .nonnegative()
    .nullable()
    .default(null)
    .describe('how long it took; null while it runs'),
})
export type ToolUse = z.infer<typeof ToolUse>

export const ChatToolUse = z.object({
  tool: ToolUse,
  model: z.string(),
  provider: z.string(),
  timestamp: z.iso.datetime(),
})
export type ChatToolUse = z.infer<typeof ChatToolUse>

/** What the workspace gave to an answer. */
export const AnswerRagContext = z.object({
  workspaceId: WorkspaceId,
  relevanceScore: RelevanceScore.nullable(),
  status: z
    .enum(['active', 'inactive', 'unavailable'])
    .describe('whether passages went into the prompt; `unavailable`: they could not be looked for'),
})
export type AnswerRagContext = z.infer<typeof AnswerRagContext>

/** The last chunk of an answer that ended; exactly one ends every stream. */
export const ChatDone = z.object({
  done: z.literal(true),
  finishReason: FinishReason,
  finalTokenCount: z.number().int(),
  usage: Usage,
  cost: Cost,
  runId: RunId,
  ragContext: AnswerRagContext.nullable(),
  citations: z.array(Citation),
  attempts: Attempts,
  chatId: ChatId.optional().describe('the conversation that keeps it'),
  messageId: MessageId.optional().describe('of the answer in that conversation'),
})
export type ChatDone = z.infer<typeof ChatDone>

/** The last chunk of an answer that failed after its first byte. What came before it was kept. */
export const ChatFailed = z.object({
  error: FailureEnvelope.shape.error,
  done: z.literal(true),
  finishReason: z.enum(['error', 'interrupted']),
  runId: RunId,
  attempts: Attempts,
  usage: Usage.optional().describe('where a model had begun'),
  cost: Cost.optional(),
})
export type ChatFailed = z.infer<typeof ChatFailed>

/** What came before is void: the answer begins again, with another model. Only for who asked for it. */
export const ChatReset = z.object({
  reset: z.literal(true),
  reason: z.string().describe('why the answer broke off'),
  model: z.string().describe('the model that begins now'),
  provider: z.string(),
  timestamp: z.iso.datetime(),
})
export type ChatReset = z.infer<typeof ChatReset>

export const ChatStreamEvent = z.union([ChatDone, ChatFailed, ChatToolUse, ChatChunk])
export type ChatStreamEvent = z.infer<typeof ChatStreamEvent>

export const chatEnhanced = endpoint({
  name: 'chatEnhanced',
  method: 'POST',
  path: '/api/ai/chat/enhanced',
  tag,
  summary: 'A streamed answer from any model, with the workspace’s code as context',
  access: 'user',
  scope: 'ai',
  rate: 'ai',
  maxBodyBytes: maxChatBodyBytes,
  body: z.strictObject({
    message: Content.min(1, 'must not be empty'),
    model: ModelKey,
    context: z
      .strictObject({
        workspaceId: WorkspaceId.optional(),
        files: z
          .array(z.string().max(4096))
          .max(50)
          .optional()
          .describe('paths whose content the question is about'),
        previousMessages: z.array(ChatMessage).max(maxMessages).optional(),
      })
      .optional(),
    enableTools: z.boolean().optional(),
  }),
  events: ChatStreamEvent,
  message: 'Answer streamed',
})
