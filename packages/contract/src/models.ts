import { z } from 'zod'

/** What a person wants a model for; each has one recommended model. */
export const taskNames = ['coding', 'reasoning', 'speed', 'cost'] as const
export const TaskName = z.enum(taskNames)
export type TaskName = z.infer<typeof TaskName>

/** US dollars as an exact decimal: digits, at most one point, no exponent. */
export const Money = z
  .string()
  .regex(/^\d+(\.\d+)?$/, 'must be a decimal string such as 0.25')
  .meta({ examples: ['0.25'] })
export type Money = z.infer<typeof Money>

export const ModelStatus = z.enum(['active', 'maintenance', 'deprecated'])
export type ModelStatus = z.infer<typeof ModelStatus>

/** USD per million tokens. Where a cache price is absent, such tokens are priced as input: an upper bound. */
export const TokenRates = z.strictObject({
  input: Money.describe('tokens of the prompt that no cache served'),
  output: Money.describe('tokens of the answer, reasoning included'),
  cachedInput: Money.optional().describe("tokens of the prompt read from the provider's cache"),
  cacheWrite: Money.optional().describe("tokens of the prompt written to the provider's cache"),
})
export type TokenRates = z.infer<typeof TokenRates>

export const ModelPricing = TokenRates.extend({
  longContext: z
    .strictObject({
      above: z.number().int().positive().describe('tokens of the prompt, cached ones included'),
      rates: TokenRates.nullable().describe('of the whole request; null where they are not known'),
    })
    .optional()
    .describe('other rates for longer prompts'),
})
export type ModelPricing = z.infer<typeof ModelPricing>

export const ModelCapabilities = z.strictObject({
  streaming: z.boolean(),
  tools: z.boolean().describe('calls functions'),
  vision: z.boolean().describe('reads images'),
  reasoning: z.boolean().describe('thinks before it answers'),
  json: z.boolean().describe('answers in JSON that fits a schema'),
})
export type ModelCapabilities = z.infer<typeof ModelCapabilities>

export const ModelKey = z
  .string()
  .min(1)
  .max(200)
  .describe('short name of a model, as `GET /api/ai/models` lists it')
  .meta({ examples: ['local'] })

export const ModelRecord = z.object({
  key: ModelKey,
  id: z.string().describe('provider-qualified: `<provider>/<model_name>`'),
  name: z.string(),
  provider: z.string().describe('id of the provider that serves it'),
  family: z.string().describe('who made it: `openai`, `anthropic`, `meta`, …'),
  contextWindow: z.number().int().positive().nullable().describe('tokens; null where nobody tells'),
  maxOutputTokens: z.number().int().positive().nullable(),
  pricing: ModelPricing.nullable().describe('null: the price is not known, which is not free'),
  capabilities: ModelCapabilities,
  status: ModelStatus,
  tasks: z.array(TaskName).describe('what it is good for'),
  available: z.boolean().describe('its provider has a key, or its server answers, here and now'),
})
export type ModelRecord = z.infer<typeof ModelRecord>

/** Capabilities of a provider: what at least one of its models can do, and whether it embeds text. */
export const ProviderCapabilities = ModelCapabilities.extend({ embeddings: z.boolean() })
export type ProviderCapabilities = z.infer<typeof ProviderCapabilities>

/** `free`: runs here. The ranges are over the models with a known price, per million tokens. */
export const PricingTier = z.object({
  tier: z.enum(['free', 'paid', 'unknown']),
  currency: z.literal('USD'),
  unit: z.literal('million tokens'),
  input: z.object({ lowest: Money, highest: Money }).nullable(),
  output: z.object({ lowest: Money, highest: Money }).nullable(),
})
export type PricingTier = z.infer<typeof PricingTier>

/** Section 2.3 of the specification. */
export const AIProvider = z.object({
  id: z.string(),
  name: z.string(),
  company: z.string(),
  models: z.array(ModelRecord),
  capabilities: ProviderCapabilities,
  pricing: PricingTier,
  status: ModelStatus,
  available: z.boolean().describe('a key is configured, or the server was found'),
})
export type AIProvider = z.infer<typeof AIProvider>

const RecommendedModels = z.record(TaskName, ModelKey)

/** Payload of `GET /api/ai/models`. */
export const ModelCatalog = z.object({
  models: z.array(ModelRecord),
  providers: z.array(AIProvider),
  recommended: RecommendedModels.describe('the best model for each task, available here or not'),
  recommendedNow: RecommendedModels.describe(
    'the best available model for each task; `local` in the last resort',
  ),
  updated: z.iso.date().describe('when the facts about hosted models were last checked'),
})
export type ModelCatalog = z.infer<typeof ModelCatalog>

const TokenCount = z.number().int().nonnegative()

/** Tokens of one answer in disjoint buckets: their sum is the total, none is counted twice. */
export const Usage = z.object({
  inputTokens: TokenCount.describe('prompt tokens that no cache served or stored'),
  cachedInputTokens: TokenCount.describe('prompt tokens read from a cache'),
  cacheWriteTokens: TokenCount.describe('prompt tokens written to a cache'),
  outputTokens: TokenCount.describe('tokens of the visible answer'),
  reasoningTokens: TokenCount.describe('tokens of thinking, paid as output'),
  estimated: z.boolean().describe('true where the provider did not report and we counted'),
})
export type Usage = z.infer<typeof Usage>

/** How an answer ended. `interrupted`: the provider never said that it was complete. */
export const FinishReason = z.enum([
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'interrupted',
  'aborted',
  'other',
])
export type FinishReason = z.infer<typeof FinishReason>
