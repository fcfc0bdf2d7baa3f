import type { LanguageModelV4CallOptions, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Attempt, FinishReason, ModelRecord, Usage } from '@atelier/contract'
import type { AppError } from '../../base/app-error.ts'
import type { ModelChoice } from './model-choice.ts'

/** A prompt, and under `providerOptions.atelier` what our local model works with. */
export type ModelPrompt = Pick<LanguageModelV4CallOptions, 'prompt' | 'providerOptions'>

/** What a caller may set beside the prompt; a model that does not know one of these ignores it. */
export type CallSettings = Pick<
  LanguageModelV4CallOptions,
  | 'tools'
  | 'toolChoice'
  | 'temperature'
  | 'topP'
  | 'stopSequences'
  | 'seed'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'responseFormat'
>

/** What is asked of a model, whichever of the candidates answers. */
export interface AnswerRequest {
  choice: ModelChoice
  /** Builds the prompt for one candidate's window. An AppError of it passes over to the next candidate. */
  prompt(model: ModelRecord): Promise<ModelPrompt>
  settings: CallSettings
  maxTokens: number | undefined
  signal: AbortSignal
  /** what the answer belongs to, for the log and the ledger */
  runId: string
  requestId: string
  userId: string
  workspaceId: string | null
  apiKeyId: string | null
}

export interface AnswerEnd {
  finishReason: FinishReason
  usage: Usage
  /** USD as a decimal string; null where a price is not known */
  cost: string | null
}

/** A model wants a function called. */
export interface ToolCall {
  id: string
  name: string
  /** JSON */
  input: string
  /** what the producing provider wants back with it */
  metadata: SharedV4ProviderMetadata | undefined
}

/** What an answer consists of, in order, for whoever goes on with it. */
export type AnswerPart =
  | { type: 'text'; text: string }
  /** goes back to the model that made it, and to no other */
  | { type: 'reasoning'; text: string; metadata: SharedV4ProviderMetadata | undefined }
  | { type: 'tool-call'; call: ToolCall }

/** `finished` or `failed` is the last event, and there is exactly one of them. */
export type AnswerEvent =
  | { type: 'text-delta'; text: string }
  | { type: 'reasoning-delta'; text: string }
  | { type: 'tool-call'; call: ToolCall }
  /** all text before is void: another model begins again */
  | { type: 'reset'; model: ModelRecord; reason: string }
  | ({ type: 'finished'; parts: readonly AnswerPart[] } & AnswerEnd)
  | ({ type: 'failed'; error: AppError } & AnswerEnd)

/** An answer that has begun. */
export interface StreamedAnswer {
  model: ModelRecord
  /** grows when a restarted answer asks more models */
  attempts: readonly Attempt[]
  events: AsyncIterable<AnswerEvent>
}

/** An answer that is there. */
export interface WholeAnswer extends AnswerEnd {
  model: ModelRecord
  attempts: readonly Attempt[]
  text: string
  toolCalls: readonly ToolCall[]
}
