import { z } from 'zod'
import { Attempt } from './attempts.ts'
import { ChatReset, ChatStreamEvent, ConversationMessage, chat, maxMessages } from './chat.ts'
import { endpoint } from './endpoint.ts'
import { WorkspaceId } from './ids.ts'
import { ModelKey } from './models.ts'

const tag = 'AI'

/** Most models of one fallback chain. */
export const maxFallbacks = 8

export const chatUnified = endpoint({
  name: 'chatUnified',
  method: 'POST',
  path: '/api/ai/chat/unified',
  tag,
  summary: 'An answer from the first model of a chain that gives one; every attempt is named',
  access: 'user',
  scope: 'ai',
  rate: 'ai',
  maxBodyBytes: chat.maxBodyBytes,
  body: z.strictObject({
    messages: z.array(ConversationMessage).min(1, 'must not be empty').max(maxMessages),
    model: ModelKey.optional().describe('tried first'),
    models: z
      .array(ModelKey)
      .max(maxFallbacks)
      .optional()
      .describe('tried in order, each once; then the configured fallbacks of the first'),
    stream: z.boolean().optional().describe('answer with events, as the enhanced chat does'),
    reset: z
      .boolean()
      .optional()
      .describe(
        'with `stream`: when an answer breaks off, begin again with the next model after a `reset` chunk',
      ),
    temperature: chat.body.shape.temperature,
    maxTokens: chat.body.shape.maxTokens,
    workspaceId: WorkspaceId.optional(),
    enableTools: z
      .boolean()
      .optional()
      .describe('with `stream`: the model may call tools that read the workspace; not together with `reset`'),
    id: z.string().max(200).optional().describe('as `useChat` sends it; not used'),
    trigger: z.string().max(60).optional().describe('as `useChat` sends it; not used'),
    messageId: z.string().max(200).optional().describe('as `useChat` sends it; not used'),
  }),
  data: chat.data.extend({ attempts: z.array(Attempt) }),
  events: z.union([ChatReset, ...ChatStreamEvent.options]),
  message: 'Chat completed',
})

export const chatWithVendor = endpoint({
  name: 'chatWithVendor',
  method: 'POST',
  path: '/api/:vendor/chat',
  tag,
  summary: 'One answer from the models of one family or provider, such as `openai`, `anthropic` or `groq`',
  access: 'user',
  scope: 'ai',
  rate: 'ai',
  maxBodyBytes: chat.maxBodyBytes,
  params: z.strictObject({ vendor: z.string().min(1).max(60) }),
  body: chat.body,
  data: chat.data,
  message: 'Chat completed',
})

export const BreakerState = z.enum(['closed', 'open', 'half-open'])
export type BreakerState = z.infer<typeof BreakerState>

const Milliseconds = z.number().int().nonnegative()

/** What is known about a provider from its calls; the figures are of this server since its start. */
export const ProviderHealth = z.object({
  id: z.string(),
  name: z.string(),
  configured: z.boolean().describe('a key is set, or its server was found'),
  keys: z.number().int().nonnegative(),
  keyVariable: z
    .string()
    .nullable()
    .describe('environment variable that holds its keys; null where it needs none'),
  breaker: BreakerState.describe('the worst of its models’ and keys’'),
  models: z.array(
    z.object({
      model: z.string(),
      keyNumber: z.number().int().min(1),
      breaker: BreakerState,
      retryInMs: Milliseconds.describe('until it may be called again; 0 where it may now'),
    }),
  ),
  calls: z.number().int().nonnegative().describe('in the last minute'),
  failures: z.number().int().nonnegative().describe('in the last minute'),
  errorRate: z.number().min(0).max(1).nullable().describe('null without a call in the last minute'),
  latency: z
    .object({ p50: Milliseconds, p95: Milliseconds, p99: Milliseconds, samples: z.number().int() })
    .nullable()
    .describe('to the first content, in ms, of the last 256 calls'),
  lastError: z
    .object({ kind: z.string(), message: z.string(), model: z.string(), at: z.iso.datetime() })
    .nullable(),
})
export type ProviderHealth = z.infer<typeof ProviderHealth>

export const listProviderHealth = endpoint({
  name: 'listProviderHealth',
  method: 'GET',
  path: '/api/ai/provider-health',
  tag,
  summary: 'How each provider is doing: configured, breaker, errors, latency',
  access: 'user',
  scope: 'ai',
  rate: 'standard',
  data: z.object({ items: z.array(ProviderHealth), nextCursor: z.null() }),
  message: 'Provider health listed',
})
