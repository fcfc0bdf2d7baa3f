import type { ModelRecord } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import { sumOfCosts } from '../../platform/models/cost.ts'
import { sumOfUsages } from '../../platform/models/usage.ts'
import type { AnswerEnd, AnswerEvent } from './answer.ts'

/** An answer of one model that has begun. */
export interface BegunAnswer {
  model: ModelRecord
  events: AsyncIterable<AnswerEvent>
}

/**
 * An answer that begins again with the next candidate when it breaks off, after a `reset`. The end tells usage and cost
 * of all the answers that were begun: each has been paid for.
 */
export async function* restartedEvents(options: {
  first: BegunAnswer
  candidates: readonly ModelRecord[]
  again: (candidates: readonly ModelRecord[]) => Promise<BegunAnswer>
}): AsyncGenerator<AnswerEvent, void, void> {
  const { candidates, again } = options
  const broken: AnswerEnd[] = []
  let answer = options.first
  for (;;) {
    const failed = yield* untilFailure(answer.events, broken)
    if (failed === null) return
    const rest = candidates.slice(candidates.indexOf(answer.model) + 1)
    if (rest.length === 0) return yield total(failed, broken)
    broken.push(failed)
    try {
      answer = await again(rest)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return yield total({ ...failed, error }, broken.slice(0, -1))
    }
    yield { type: 'reset', model: answer.model, reason: failed.error.message }
  }
}

type Failed = Extract<AnswerEvent, { type: 'failed' }>

/** Passes events on; the failure, if there is one, is returned instead. */
async function* untilFailure(
  events: AsyncIterable<AnswerEvent>,
  broken: readonly AnswerEnd[],
): AsyncGenerator<AnswerEvent, Failed | null, void> {
  for await (const event of events) {
    if (event.type === 'failed') return event
    yield event.type === 'finished' ? total(event, broken) : event
  }
  return null
}

function total<End extends AnswerEnd>(last: End, broken: readonly AnswerEnd[]): End {
  const all = [...broken, last]
  return {
    ...last,
    usage: sumOfUsages(all.map((end) => end.usage)),
    cost: sumOfCosts(all.map((end) => end.cost)),
  }
}
