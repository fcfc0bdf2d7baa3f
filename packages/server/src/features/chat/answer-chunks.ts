import type {
  Attempt,
  ChatChunk,
  ChatDone,
  ChatFailed,
  ChatReset,
  ChatToolUse,
  FinishReason,
  ModelRecord,
  ToolUse,
} from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import { toAppError } from '../../platform/http/to-app-error.ts'
import { charactersPerToken, noUsage } from '../../platform/models/usage.ts'
import type { AnswerEvent } from '../gateway/index.ts'
import type { AnswerContext } from './answer-context.ts'
import type { MadeEvent } from './runs.ts'
import type { ToolAnswer, ToolEvent } from './tool-loop.ts'

/** An answer that has come to its end, as its conversation keeps it. */
export interface EndedAnswer {
  text: string
  chunk: ChatDone | ChatFailed
  finishReason: FinishReason
  /** null when no model has begun */
  model: ModelRecord | null
  /** what the model called for it */
  tools: ToolUse[]
}

/** Stores an ended answer and gives the last chunk that its readers get. */
export type KeepAnswer = (ended: EndedAnswer) => Promise<ChatDone | ChatFailed>

/**
 * An answer as the chunks of the specification. The last one, and only that, is `ChatDone` or `ChatFailed`; `ChatReset`
 * comes only where the request asked for it. Never throws: whatever happens ends with a chunk.
 */
export async function* answerChunks(options: {
  context: AnswerContext
  answer: Promise<ToolAnswer>
  signal: AbortSignal
  keep: KeepAnswer
}): AsyncGenerator<MadeEvent, void, void> {
  const { context, answer, signal, keep } = options
  let text = ''
  let model: ModelRecord | null = null
  const tools = new Map<string, ToolUse>()
  try {
    const begun = await answer
    model = begun.model
    let chunk = chunkMaker(context, model)
    for await (const event of begun.events) {
      if (event.type === 'text-delta') {
        text += event.text
        yield { data: chunk(event.text, text.length) }
      } else if (event.type === 'reset') {
        text = ''
        model = event.model
        chunk = chunkMaker(context, model)
        yield { data: resetChunk(event) }
      } else if (event.type === 'tool-use') {
        tools.set(event.use.id, event.use)
        yield { data: toolChunk(event) }
      } else if (event.type === 'finished' || event.type === 'failed') {
        const last = lastChunk(context, event, { text, attempts: begun.attempts })
        const { finishReason } = event
        return yield await ended({ text, model, tools: [...tools.values()], finishReason, chunk: last }, keep)
      }
    }
    throw new Error('an answer had no end')
  } catch (error) {
    const stopped = signal.aborted && !(error instanceof AppError)
    const finishReason = stopped ? 'aborted' : 'error'
    const chunk = stopped
      ? doneChunk(context, { finishReason: 'aborted', usage: noUsage, cost: '0' }, { text, attempts: [] })
      : failedChunk(context, toAppError(error), 'error', attemptsOf(error))
    yield await ended({ text, model, tools: [...tools.values()], finishReason, chunk }, keep)
  }
}

async function ended(answer: EndedAnswer, keep: KeepAnswer): Promise<MadeEvent> {
  const data = await keep(answer)
  if ('error' in data) return { data, ends: 'failed' }
  return { data, ends: data.finishReason === 'aborted' ? 'stopped' : 'finished' }
}

/** What the chunks of one model have in common is put together once: this runs for every few letters of an answer. */
function chunkMaker(
  context: AnswerContext,
  { key: model, id: provider }: ModelRecord,
): (content: string, length: number) => ChatChunk {
  const ragActive = context.ragStatus() === 'active'
  const toolsEnabled = context.tools !== null
  const timestamp = createTimestamps()
  return (content, length) => ({
    content,
    model,
    provider,
    timestamp: timestamp(),
    ragActive,
    toolsEnabled,
    tokenCount: Math.ceil(length / charactersPerToken),
  })
}

/** ISO 8601; many chunks come in one millisecond, and formatting is dearer than comparing. */
function createTimestamps(): () => string {
  let last = 0
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== last) text = new Date(now).toISOString()
    last = now
    return text
  }
}

function toolChunk({ use: tool, model }: ToolEvent): ChatToolUse {
  return { tool, model: model.key, provider: model.id, timestamp: new Date().toISOString() }
}

function resetChunk({ model, reason }: Extract<AnswerEvent, { type: 'reset' }>): ChatReset {
  return { reset: true, reason, model: model.key, provider: model.id, timestamp: new Date().toISOString() }
}

type LastEvent = Extract<AnswerEvent, { type: 'finished' | 'failed' }>

function lastChunk(
  context: AnswerContext,
  event: LastEvent,
  answer: { text: string; attempts: readonly Attempt[] },
): ChatDone | ChatFailed {
  if (event.type === 'finished') return doneChunk(context, event, answer)
  const finishReason = event.finishReason === 'interrupted' ? 'interrupted' : 'error'
  return failedChunk(context, event.error, finishReason, answer.attempts)
}

function doneChunk(
  context: AnswerContext,
  { finishReason, usage, cost }: Pick<ChatDone, 'finishReason' | 'usage' | 'cost'>,
  answer: { text: string; attempts: readonly Attempt[] },
): ChatDone {
  const { runId, workspaceId, relevanceScore } = context
  return {
    done: true,
    finishReason,
    finalTokenCount: usage.outputTokens,
    usage,
    cost,
    runId,
    ragContext: workspaceId === null ? null : { workspaceId, relevanceScore, status: context.ragStatus() },
    citations: context.citationsIn(answer.text),
    attempts: [...answer.attempts],
  }
}

export function failedChunk(
  { runId }: Pick<AnswerContext, 'runId'>,
  { code, message, details }: AppError,
  finishReason: 'error' | 'interrupted',
  attempts: readonly Attempt[] = [],
): ChatFailed {
  const error = { code, message, ...(details && { details }) }
  return { error, done: true, finishReason, runId, attempts: [...attempts] }
}

function attemptsOf(error: unknown): readonly Attempt[] {
  return error instanceof AppError && 'attempts' in error ? (error.attempts as readonly Attempt[]) : []
}
