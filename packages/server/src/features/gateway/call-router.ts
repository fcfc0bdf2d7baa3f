import type { BreakerState, ModelRecord } from '@atelier/contract'
import { ProviderError } from '../../platform/models/provider-error.ts'
import { type Breaker, type CallOutcome, type CallPermit, createBreaker } from './breaker.ts'
import { type CallStatistics, createCallStatistics } from './call-statistics.ts'
import type { ModelRates } from './model-rates.ts'

/** Leave to call one model with one key of its provider. */
export interface Route {
  /** zero-based */
  keyIndex: number
  /** The first content, or the whole answer, came after so many milliseconds. */
  answered(milliseconds: number): void
  /** Tells the outcome, once, when the call with its stream has ended. `null`: the caller left. */
  ended(error: Error | null | undefined): void
  /** Tokens of the prompt and of the answer, where there was one. */
  used(tokens: number): void
}

/** Decides with which key a model may be called now. */
export interface CallRouter {
  /** The next key in turn whose breaker admits a call; null when none does, or the model's minute is full. `except`: keys that have just failed. */
  enter(model: ModelRecord, except: ReadonlySet<number>): Route | null
  /** milliseconds until a call may be tried */
  retryInMilliseconds(model: ModelRecord): number
  /** the model has had what it may take in a minute */
  full(model: ModelRecord): boolean
  /** how many keys a provider has here; 1 where it needs none */
  keysOf(provider: string): number
  breakers(provider: string): BreakerReport[]
  statistics(provider: string): CallStatistics
}

export interface BreakerReport {
  model: string
  keyNumber: number
  breaker: BreakerState
  retryInMs: number
  calls: number
  failures: number
}

/** A key that a provider does not accept is left alone for that long, in milliseconds: a person must mend it. */
const pauseOfABadKey = 60_000

export function createCallRouter(dependencies: {
  /** how many keys a provider has here; 1 where it needs none */
  keysOf: (provider: string) => number
  rates: ModelRates
  clock: () => number
}): CallRouter {
  const { keysOf, rates, clock } = dependencies
  const breakers = new Map<string, { provider: string; model: string; keyIndex: number; breaker: Breaker }>()
  const statistics = new Map<string, CallStatistics>()
  const turns = new Map<string, number>()

  function breakerOf(model: ModelRecord, keyIndex: number): Breaker {
    const id = `${keyIndex} ${model.key}`
    const known = breakers.get(id)
    if (known !== undefined) return known.breaker
    const breaker = createBreaker({ clock })
    breakers.set(id, { provider: model.provider, model: model.key, keyIndex, breaker })
    return breaker
  }

  function statisticsOf(provider: string): CallStatistics {
    const known = statistics.get(provider)
    if (known !== undefined) return known
    const created = createCallStatistics()
    statistics.set(provider, created)
    return created
  }

  /** All keys, beginning with the next in turn, so that each gets its share. */
  function keysInTurn(provider: string): number[] {
    const count = Math.max(1, keysOf(provider))
    const turn = turns.get(provider) ?? 0
    turns.set(provider, (turn + 1) % count)
    return Array.from({ length: count }, (_, index) => (turn + index) % count)
  }

  function routeOf(model: ModelRecord, keyIndex: number, permit: CallPermit): Route {
    const calls = statisticsOf(model.provider)
    return {
      keyIndex,
      answered: (milliseconds) => calls.latency(milliseconds),
      ended(error) {
        permit.settle(outcomeOf(error))
        if (error instanceof ProviderError) calls.failed(error, clock())
      },
      used: (tokens) => rates.used(model.key, tokens),
    }
  }

  return {
    enter(model, except) {
      if (rates.wait(model.key) > 0) return null
      for (const keyIndex of keysInTurn(model.provider)) {
        if (except.has(keyIndex)) continue
        const permit = breakerOf(model, keyIndex).enter()
        if (permit === null) continue
        rates.began(model.key)
        return routeOf(model, keyIndex, permit)
      }
      return null
    },
    retryInMilliseconds(model) {
      const keys = Array.from({ length: Math.max(1, keysOf(model.provider)) }, (_, index) => index)
      const breaker = Math.min(...keys.map((key) => breakerOf(model, key).retryInMilliseconds()))
      return Math.max(breaker, rates.wait(model.key))
    },
    full: (model) => rates.wait(model.key) > 0,
    keysOf,
    breakers: (provider) =>
      [...breakers.values()]
        .filter((entry) => entry.provider === provider)
        .map(({ model, keyIndex, breaker }) => ({
          model,
          keyNumber: keyIndex + 1,
          breaker: breaker.state(),
          retryInMs: breaker.retryInMilliseconds(),
          ...breaker.window(),
        })),
    statistics: statisticsOf,
  }
}

/** What a call's end tells about its provider: a request it rightly refuses tells nothing. */
function outcomeOf(error: Error | null | undefined): CallOutcome {
  if (error === undefined) return { kind: 'success' }
  if (!(error instanceof ProviderError)) return { kind: 'neutral' }
  if (error.kind === 'transient') return { kind: 'failure', block: error.retryAfterMilliseconds }
  if (error.kind === 'timeout') return { kind: 'failure' }
  if (error.kind === 'key') return { kind: 'failure', block: pauseOfABadKey }
  return { kind: 'neutral' }
}
