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
import type { AnswerStep } from './answer-steps.ts'
import type { MadeEvent } from './runs.ts'
import { attemptsOf, type ToolAnswer, type ToolEvent } from './tool-loop.ts'

/** An answer that has come to its end, as its conversation keeps it. */
export interface EndedAnswer {
  text: string
  chunk: ChatDone | ChatFailed
  finishReason: FinishReason
  /** null when no model has begun */
  model: ModelRecord | null
  /** what the model called for it */
  tools: ToolUse[]
  steps: readonly AnswerStep[]
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
  let steps: readonly AnswerStep[] = []
  const uses = new Map<string, ToolUse>()

  async function ended(finishReason: FinishReason, chunk: ChatDone | ChatFailed): Promise<MadeEvent> {
    const data = await keep({ text, model, tools: [...uses.values()], steps, finishReason, chunk })
    if ('error' in data) return { data, ends: 'failed' }
    return { data, ends: data.finishReason === 'aborted' ? 'stopped' : 'finished' }
  }

  try {
    const begun = await answer
    model = begun.model
    steps = begun.steps
    let chunk = chunkMaker(context, model)
    for await (const event of begun.events) {
      if (event.type === 'text-delta') {
        if (event.text === '') continue
        text += event.text
        yield { data: chunk(event.text, text.length) }
      } else if (event.type === 'reset' || event.type === 'model-changed') {
        model = event.model
        chunk = chunkMaker(context, model)
        if (event.type === 'model-changed') continue
        text = ''
        yield { data: resetChunk(event) }
      } else if (event.type === 'tool-use') {
        uses.set(event.use.id, event.use)
        yield { data: toolChunk(event) }
      } else if (event.type === 'finished' || event.type === 'failed') {
        const last = lastChunk(context, event, { text, attempts: begun.attempts })
        return yield await ended(event.finishReason, last)
      }
    }
    throw new Error('an answer had no end')
  } catch (error) {
    if (signal.aborted && !(error instanceof AppError)) {
      const nothing = { finishReason: 'aborted' as const, usage: noUsage, cost: '0' }
      return yield await ended('aborted', doneChunk(context, nothing, { text, attempts: [] }))
    }
    yield await ended(
      'error',
      failedChunk(context, { error: toAppError(error), finishReason: 'error' }, attemptsOf(error)),
    )
  }
}

/** What the chunks of one model have in common is put together once: this runs for every few letters of an answer. */
function chunkMaker(
  context: AnswerContext,
  { key: model, id: provider }: ModelRecord,
): (content: string, length: number) => ChatChunk {
  const ragActive = context.ragStatus() === 'active'
  const toolsEnabled = context.toolsEnabled()
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

function toolChunk({ use: tool, model }: Extract<ToolEvent, { type: 'tool-use' }>): ChatToolUse {
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
  const { error, usage, cost } = event
  const finishReason = event.finishReason === 'interrupted' ? 'interrupted' : 'error'
  return failedChunk(context, { error, finishReason, spent: { usage, cost } }, answer.attempts)
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
  failure: {
    error: AppError
    finishReason: ChatFailed['finishReason']
    spent?: Pick<ChatDone, 'usage' | 'cost'>
  },
  attempts: readonly Attempt[] = [],
): ChatFailed {
  const { code, message, details } = failure.error
  const error = { code, message, ...(details && { details }) }
  const { finishReason, spent } = failure
  return { error, done: true, finishReason, runId, attempts: [...attempts], ...spent }
}
