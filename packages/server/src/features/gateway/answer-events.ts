import type {
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import type { FinishReason, ModelRecord } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import { costOf } from '../../platform/models/cost.ts'
import { type ProviderError, toProviderError } from '../../platform/models/provider-error.ts'
import { usageFrom } from '../../platform/models/usage.ts'
import type { AnswerEnd, AnswerEvent, ToolCall } from './answer.ts'
import { createAnswerParts } from './answer-parts.ts'

/**
 * A guarded stream as events. The last is `finished` or `failed`. An answer whose signal aborts ends as `aborted`, or as
 * `interrupted` when the reason is an AppError. A consumer that leaves early cancels the provider's call; `onEnd` hears
 * once how the answer ended, in that case as `aborted`.
 */
export async function* answerEvents(options: {
  stream: ReadableStream<LanguageModelV4StreamPart>
  model: ModelRecord
  notice: string | null
  /** of the caller: its reason decides how an answer ends that is stopped */
  signal: AbortSignal
  /** the caller goes on with the answer: its parts are kept for the end */
  keepParts: boolean
  /** text of the whole prompt; called only where the provider does not count */
  promptText: () => string
  onEnd: (end: AnswerEnd, error: ProviderError | null) => void
}): AsyncGenerator<AnswerEvent, void, void> {
  const { stream, model, notice, signal, keepParts, promptText, onEnd } = options
  const reader = stream.getReader()
  let answer = ''
  let reasoning = ''
  let error: ProviderError | null = null
  let ended = false
  let calls = false
  const kept = keepParts ? createAnswerParts() : undefined

  function end(finishReason: FinishReason, reported: LanguageModelV4Usage | undefined): AnswerEnd {
    ended = true
    const usage = usageFrom(reported, {
      get prompt() {
        return promptText()
      },
      answer,
      reasoning,
    })
    const outcome = { finishReason, usage, cost: costOf(usage, model.pricing) }
    onEnd(outcome, error)
    return outcome
  }

  try {
    if (notice !== null) yield { type: 'text-delta', text: notice }
    for (;;) {
      const { done, value: part } = await reader.read()
      if (done) return
      kept?.add(part)
      if (part.type === 'text-delta') {
        answer += part.delta
        yield { type: 'text-delta', text: part.delta }
      } else if (part.type === 'reasoning-delta') {
        reasoning += part.delta
        yield { type: 'reasoning-delta', text: part.delta }
      } else if (part.type === 'tool-input-delta') {
        answer += part.delta
      } else if (part.type === 'tool-call') {
        calls = true
        yield { type: 'tool-call', call: toToolCall(part) }
      } else if (part.type === 'error') {
        error = toProviderError(part.error, { provider: model.provider, model: model.key })
      } else if (part.type === 'finish') {
        const outcome = end(finishReasonOf(part.finishReason.unified, calls), part.usage)
        yield error === null
          ? { type: 'finished', parts: kept?.parts() ?? [], ...outcome }
          : { type: 'failed', error, ...outcome }
        return
      }
    }
  } catch (reason) {
    if (!signal.aborted || ended) throw reason
    // Stopped by a person, or with the server.
    yield reason instanceof AppError
      ? { type: 'failed', error: reason, ...end('interrupted', undefined) }
      : { type: 'finished', parts: [], ...end('aborted', undefined) }
  } finally {
    if (!ended) {
      end('aborted', undefined)
      await reader.cancel().catch(() => undefined)
    }
  }
}

/** Some providers, and servers that speak like them, end with a plain stop although they want a function called. */
export function finishReasonOf(reason: FinishReason, calls: boolean): FinishReason {
  return calls && (reason === 'stop' || reason === 'other') ? 'tool-calls' : reason
}

export function toToolCall(part: LanguageModelV4ToolCall): ToolCall {
  const { toolCallId: id, toolName: name, input, providerMetadata: metadata } = part
  return { id, name, input, metadata }
}
