import { setTimeout as wait } from 'node:timers/promises'
import type { Attempt, AttemptOutcome, ModelRecord } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import { ProviderError } from '../../platform/models/provider-error.ts'
import type { CallRouter, Route } from './call-router.ts'
import { retryDelay } from './retry-delay.ts'

/** Repetitions for one model, for a failure that may pass. */
const maxRetries = 2

/**
 * Longest wait for a model that may not be called yet, in milliseconds: a person is waiting, and another model, where
 * there is one, may be ready at once.
 */
const patience = { lastCandidate: 10_000, otherwise: 1_000 }

/** No candidate has answered: the failure of the first, and every attempt. */
export class NoAnswer extends AppError {
  override name = 'NoAnswer'
  readonly attempts: readonly Attempt[]

  constructor(error: AppError, attempts: readonly Attempt[]) {
    super(error.code, error.message, { details: { ...error.details, attempts: [...attempts] }, cause: error })
    this.attempts = attempts
  }
}

export interface AttemptOptions<Result> {
  candidates: readonly ModelRecord[]
  router: CallRouter
  /** where every attempt is noted */
  attempts: Attempt[]
  /** Calls a model. Rejects with a ProviderError, with an AppError of the prompt, or with the signal's reason. */
  call(model: ModelRecord, keyIndex: number, signal: AbortSignal): Promise<Result>
  signal: AbortSignal
  /** longest time for all calls and the waits between them, in milliseconds */
  totalMilliseconds: number
  random: () => number
}

export interface Attempted<Result> {
  model: ModelRecord
  result: Result
  /** to be told how the call ended, once its answer is whole */
  route: Route
}

/**
 * Calls one candidate after the other until one answers: with the keys of its provider in turn, again when its failure
 * may pass, not while its breaker is open; all inside one deadline, of which each but the last has half of what is left.
 * Rejects with NoAnswer, with NoAnswer of code TIMEOUT at the deadline, or with the signal's reason.
 */
export async function attemptInOrder<Result>(options: AttemptOptions<Result>): Promise<Attempted<Result>> {
  const { candidates, attempts, signal, totalMilliseconds } = options
  const limited = limitedSignal(signal, totalMilliseconds, () => {
    return new AppError('TIMEOUT', 'No model answered in time')
  })
  let first: AppError | undefined
  try {
    for (const [index, model] of candidates.entries()) {
      const last = index === candidates.length - 1
      const share = last ? limited : halfOf(limited, model)
      const outcome = await attemptOne(model, { ...options, ...share, last }).finally(share.release)
      if ('result' in outcome) return { ...outcome, model }
      first ??= outcome.failure
    }
  } catch (error) {
    throw error instanceof AppError ? new NoAnswer(error, attempts) : error
  } finally {
    limited.release()
  }
  throw new NoAnswer(first ?? new AppError('SERVICE_UNAVAILABLE', 'No model can answer'), attempts)
}

interface AttemptState<Result> extends AttemptOptions<Result> {
  /** of this candidate, on the clock of `performance.now` */
  deadline: number
  /** no other candidate follows */
  last: boolean
}

type Outcome<Result> = { result: Result; route: Route } | { failure: AppError }

async function attemptOne<Result>(model: ModelRecord, state: AttemptState<Result>): Promise<Outcome<Result>> {
  const { router, random } = state
  /** keys that failed in a way that another key may not */
  const spent = new Set<number>()
  let failure: AppError | undefined
  let retries = 0
  for (;;) {
    const route = router.enter(model, spent)
    if (route !== null) {
      const outcome = await callOnce(model, route, state)
      if ('result' in outcome) return outcome
      failure = outcome.failure
      const next = afterFailure(failure)
      if (next === 'give-up') return outcome
      if (next === 'other-key') spent.add(route.keyIndex)
      else if (!(await waited(retryDelay(++retries, random), retries, state))) return outcome
      continue
    }
    if (failure === undefined) state.attempts.push({ model: model.key, outcome: 'skipped', ms: 0 })
    failure ??= router.full(model) ? full(model, router) : paused(model, router)
    if (failure instanceof ProviderError && failure.kind === 'key') return { failure }
    const pause = router.retryInMilliseconds(model)
    if (pause > (state.last ? patience.lastCandidate : patience.otherwise)) return { failure }
    if (!(await waited(pause + retryDelay(++retries, random), retries, state))) return { failure }
    spent.clear()
  }
}

async function callOnce<Result>(
  model: ModelRecord,
  route: Route,
  { call, signal, attempts }: AttemptState<Result>,
): Promise<Outcome<Result>> {
  const started = performance.now()
  const note = (outcome: AttemptOutcome, status?: number) => {
    const ms = Math.round(performance.now() - started)
    attempts.push({ model: model.key, outcome, ms, ...(status === undefined ? {} : { status }) })
    return ms
  }
  try {
    const result = await call(model, route.keyIndex, signal)
    route.answered(note('answered'))
    return { result, route }
  } catch (error) {
    const ours = error instanceof AppError && (!signal.aborted || isShareOver(error, signal))
    route.ended(ours ? error : null)
    if (!ours) throw signal.aborted ? signal.reason : error
    note(outcomeOf(error), error instanceof ProviderError ? error.status : undefined)
    return { failure: error }
  }
}

function outcomeOf(error: AppError): AttemptOutcome {
  if (error instanceof ProviderError) return error.kind
  return error.code === 'RATE_LIMITED' ? 'budget' : 'prompt-too-long'
}

function afterFailure(failure: AppError): 'again' | 'other-key' | 'give-up' {
  if (!(failure instanceof ProviderError)) return 'give-up'
  if (failure.kind === 'key') return 'other-key'
  if (failure.kind !== 'transient') return 'give-up'
  return failure.retryAfterMilliseconds === undefined ? 'again' : 'other-key'
}

/** False: there is no repetition left, or no time for it. */
async function waited<Result>(
  delay: number,
  retries: number,
  { signal, deadline }: AttemptState<Result>,
): Promise<boolean> {
  if (retries > maxRetries || performance.now() + delay >= deadline) return false
  // A timer may fire up to a millisecond early, and a breaker that is asked too soon would cost a repetition.
  await wait(Math.ceil(delay) + 1, undefined, { signal }).catch(() => {
    if (!isShareOver(signal.reason, signal)) throw signal.reason
  })
  return true
}

function paused(model: ModelRecord, router: CallRouter): AppError {
  const message = `${model.name} has been failing and is left alone for a moment`
  return new AppError('SERVICE_UNAVAILABLE', message, { details: waitOf(model, router) })
}

function full(model: ModelRecord, router: CallRouter): AppError {
  const message = `${model.name} has had all the requests or tokens that it may take in a minute`
  return new AppError('RATE_LIMITED', message, { details: { kind: 'model', ...waitOf(model, router) } })
}

function waitOf(model: ModelRecord, router: CallRouter) {
  const retryAfterSeconds = Math.ceil(router.retryInMilliseconds(model) / 1000)
  return { model: model.key, provider: model.provider, retryAfterSeconds }
}

interface Limited {
  signal: AbortSignal
  /** on the clock of `performance.now` */
  deadline: number
  /** The time does not count any more; the caller's abort still does. */
  release(): void
}

/** One candidate that never answers leaves as much time for the next. */
function halfOf({ signal, deadline }: Limited, { provider, key }: ModelRecord): Limited {
  return limitedSignal(signal, (deadline - performance.now()) / 2, () => {
    return new ProviderError('timeout', { provider, model: key }, { reason: 'share_timeout' })
  })
}

/** Only the end of a candidate's share aborts with a ProviderError. */
function isShareOver(error: unknown, signal: AbortSignal): boolean {
  return error instanceof ProviderError && error === signal.reason
}

/** Aborts with the caller's reason, or when the time is over. Cheaper than `AbortSignal.any`. */
function limitedSignal(outer: AbortSignal, milliseconds: number, over: () => AppError): Limited {
  const controller = new AbortController()
  const abort = () => controller.abort(outer.reason)
  const timer = setTimeout(() => controller.abort(over()), milliseconds)
  if (outer.aborted) abort()
  else outer.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    deadline: performance.now() + milliseconds,
    release: () => clearTimeout(timer),
  }
}
