import type { AnswerFacts, ChatDone, ChatFailed, ToolUse } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import { newId } from '../../base/ids.ts'
import { type EndedAnswer, failedChunk } from './answer-chunks.ts'
import type { AnswerContext } from './answer-context.ts'
import { stepsToKeep } from './answer-steps.ts'
import type { NewMessageRow } from './chat-store.ts'
import type { LostAnswer } from './run-recovery.ts'

/** An answer that has ended, as its conversation keeps it. */
export async function storedAnswerOf(ended: EndedAnswer): Promise<NewMessageRow> {
  const { text, model, tools, steps, finishReason, chunk } = ended
  const answer: AnswerFacts = {
    ...noFacts,
    ...('error' in chunk ? factsOfFailure(chunk) : factsOf(chunk)),
    runId: chunk.runId,
    model: model?.key ?? null,
    provider: model?.id ?? null,
    finishReason,
    attempts: chunk.attempts,
    tools: endedUses(tools),
  }
  const kept = await stepsToKeep(steps, text)
  return { id: newId('message'), role: 'assistant', content: text, answer, steps: kept }
}

/** What an answer had said when its process died. */
export function lostAnswerOf(runId: string, { content, tools }: LostAnswer): NewMessageRow {
  const uses = endedUses([...tools.values()])
  const answer: AnswerFacts = { ...noFacts, runId, finishReason: 'interrupted', tools: uses }
  return { id: newId('message'), role: 'assistant', content, answer, steps: null }
}

/** An end that is not kept is not told as if it were. */
export function unstored(context: AnswerContext, chunk: ChatDone | ChatFailed): ChatFailed {
  const error = new AppError('SERVICE_UNAVAILABLE', 'The answer could not be stored')
  return failedChunk(context, { error, finishReason: 'error' }, chunk.attempts)
}

const noFacts: Omit<AnswerFacts, 'runId' | 'finishReason'> = {
  model: null,
  provider: null,
  usage: null,
  cost: null,
  citations: [],
  attempts: [],
  tools: [],
  ragContext: null,
}

function factsOf({ usage, cost, citations, ragContext }: ChatDone) {
  return { usage, cost, citations, ragContext }
}

function factsOfFailure({ usage, cost }: ChatFailed) {
  return { usage: usage ?? null, cost: cost ?? null }
}

/** What still ran when an answer ended has no result. */
function endedUses(uses: readonly ToolUse[]): ToolUse[] {
  return uses.map((use) =>
    use.state === 'running' ? { ...use, state: 'failed', summary: 'interrupted' } : use,
  )
}
