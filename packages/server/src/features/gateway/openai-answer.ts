import type { FinishReason, Usage } from '@atelier/contract'
import type { AppError } from '../../base/app-error.ts'
import { openAiFailure } from '../../platform/http/openai-failure.ts'
import { promptTokens, totalTokens } from '../../platform/models/usage.ts'
import type { StreamedAnswer, ToolCall, WholeAnswer } from './answer.ts'

/** What all parts of one completion have in common. */
export interface CompletionHead {
  id: string
  /** seconds since the epoch */
  created: number
}

/** An answer as `chat.completion`. */
export function completionOf(head: CompletionHead, answer: WholeAnswer) {
  const { text, toolCalls, finishReason, usage, model } = answer
  const message = {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    refusal: null,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toolCallOf) }),
  }
  return {
    ...head,
    object: 'chat.completion',
    model: model.key,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonOf(finishReason) }],
    usage: usageOf(usage),
  }
}

/**
 * A streamed answer as the `data:` of `chat.completion.chunk` events, `[DONE]` included. An answer that breaks off ends
 * with an error and without `[DONE]`, which clients report as a failure; it never looks complete.
 */
export async function* completionChunks(
  head: CompletionHead,
  answer: StreamedAnswer,
  options: { includeUsage: boolean },
): AsyncGenerator<{ json: string }, void, void> {
  const common = { ...head, object: 'chat.completion.chunk', model: answer.model.key }
  // What all chunks begin with is put into JSON once: there may be thousands.
  const beginning = JSON.stringify(common).slice(0, -1)
  const chunk = (delta: object, finish: string | null = null) => {
    const choice = `{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}`
    return { json: `${beginning},"choices":[${choice}]}` }
  }
  let tools = 0
  yield chunk({ role: 'assistant', content: '' })
  for await (const event of answer.events) {
    if (event.type === 'text-delta') yield chunk({ content: event.text })
    else if (event.type === 'tool-call') {
      yield chunk({ tool_calls: [{ index: tools, ...toolCallOf(event.call) }] })
      tools += 1
    } else if (event.type === 'failed') return yield failureChunk(event.error)
    else if (event.type === 'finished') {
      yield chunk({}, finishReasonOf(event.finishReason))
      if (options.includeUsage) {
        yield { json: JSON.stringify({ ...common, choices: [], usage: usageOf(event.usage) }) }
      }
      yield { json: '[DONE]' }
    }
  }
}

/** The last event of a stream that failed. */
export function failureChunk(error: AppError): { json: string } {
  return { json: JSON.stringify(openAiFailure(error)) }
}

function toolCallOf({ id, name, input }: ToolCall) {
  return { id, type: 'function', function: { name, arguments: input } }
}

const finishReasons: Partial<Record<FinishReason, string>> = {
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
}

function finishReasonOf(reason: FinishReason): string {
  return finishReasons[reason] ?? 'stop'
}

function usageOf(usage: Usage) {
  return {
    prompt_tokens: promptTokens(usage),
    completion_tokens: usage.outputTokens + usage.reasoningTokens,
    total_tokens: totalTokens(usage),
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens, audio_tokens: 0 },
  }
}
