import type { ModelLimits } from '../../platform/models/model-limits.ts'
import { limitOf } from '../../platform/models/model-limits.ts'

/** Keeps the calls of each model within its limits of requests and tokens a minute, on this server. */
export interface ModelRates {
  /** milliseconds until a call may begin; 0 when at once */
  wait(model: string): number
  /** A call begins. */
  began(model: string): void
  /** A call has ended: its tokens are known only now, so the last call of a minute may pass the limit. */
  used(model: string, tokens: number): void
}

export function createModelRates({
  limits,
  clock,
}: {
  limits: ModelLimits
  clock: () => number
}): ModelRates {
  const minutes = new Map<string, { requests: Minute; tokens: Minute }>()

  function minutesOf(model: string) {
    let known = minutes.get(model)
    if (known === undefined) {
      known = { requests: createMinute(clock), tokens: createMinute(clock) }
      minutes.set(model, known)
    }
    return known
  }

  return {
    wait(model) {
      const limit = limitOf(limits, model)
      if (limit === undefined) return 0
      const { requests, tokens } = minutesOf(model)
      return Math.max(requests.untilBelow(limit.requests), tokens.untilBelow(limit.tokens))
    },
    began(model) {
      if (limitOf(limits, model)?.requests !== undefined) minutesOf(model).requests.add(1)
    },
    used(model, tokens) {
      if (limitOf(limits, model)?.tokens !== undefined) minutesOf(model).tokens.add(tokens)
    },
  }
}

interface Minute {
  add(amount: number): void
  /** milliseconds until the last minute holds less than `limit` */
  untilBelow(limit: number | undefined): number
}

/** One more than a minute has: what was added at a second's end counts for a whole minute. */
const secondsKept = 61

/** Amounts by second, in a ring: constant memory however many calls there are. */
function createMinute(clock: () => number): Minute {
  const seconds = new Float64Array(secondsKept).fill(-secondsKept)
  const amounts = new Float64Array(secondsKept)
  return {
    add(amount) {
      const second = Math.floor(clock() / 1_000)
      const slot = second % secondsKept
      if (seconds[slot] !== second) amounts[slot] = 0
      seconds[slot] = second
      amounts[slot] = (amounts[slot] ?? 0) + amount
    },
    untilBelow(limit = Number.POSITIVE_INFINITY) {
      const now = clock()
      const present = Math.floor(now / 1_000)
      const at = (second: number) => {
        const slot = ((second % secondsKept) + secondsKept) % secondsKept
        return seconds[slot] === second ? (amounts[slot] ?? 0) : 0
      }
      let sum = 0
      for (let second = present - secondsKept + 1; second <= present; second += 1) sum += at(second)
      for (let second = present - secondsKept + 1; second <= present; second += 1) {
        if (sum < limit)
          return second === present - secondsKept + 1 ? 0 : (second - 1 + secondsKept) * 1_000 - now
        sum -= at(second)
      }
      return sum < limit ? (present + secondsKept) * 1_000 - now : Number.POSITIVE_INFINITY
    },
  }
}
