/** How one call ended, as far as it tells about the provider. A caller that left, or a bad request, tells nothing. */
export type CallOutcome =
  | { kind: 'success' }
  | { kind: 'neutral' }
  /** `block`: milliseconds for which the provider does not want to be called */
  | { kind: 'failure'; block?: number | undefined }

export type BreakerState = 'closed' | 'open' | 'half-open'

/** Leave to make one call; its outcome is told once, when the call, with its stream, has ended. */
export interface CallPermit {
  settle(outcome: CallOutcome): void
}

/** Keeps calls away from what is failing: one for each model of each provider with each key. */
export interface Breaker {
  state(): BreakerState
  /** null: not now; `retryInMilliseconds` tells when */
  enter(): CallPermit | null
  /** milliseconds until the next call may be tried; 0 when at once */
  retryInMilliseconds(): number
  /** calls and failures of the last minute */
  window(): { calls: number; failures: number }
}

/** Calls of the last minute are judged, from five on, when half of them failed. */
const windowSeconds = 60
const fewestSamples = 5
const failureShare = 0.5

/** How long it stays open, in milliseconds: doubled at each probe that fails. */
const firstPause = 5_000
const longestPause = 5 * 60_000

/** Milliseconds after which it is worth asking again whether a probe has ended. */
const probeWait = 1_000

/** A probe that has not ended after that long counts as lost, and another may be made. */
const longestProbe = 10 * 60_000

/**
 * Closed while calls succeed; open after failures, for a pause or as long as the provider asks; then half-open: one
 * probe decides between closed and a longer pause.
 */
export function createBreaker({ clock }: { clock: () => number }): Breaker {
  const counts = createWindow(clock)
  let openUntil = 0
  let pause = firstPause
  let tripped = false
  let probeSince: number | null = null

  function state(): BreakerState {
    if (clock() < openUntil) return 'open'
    return tripped ? 'half-open' : 'closed'
  }

  /** What the provider asks for goes before what we would guess. */
  function trip(block: number | undefined): void {
    tripped = true
    openUntil = clock() + (block ?? pause)
    if (block === undefined) pause = Math.min(longestPause, pause * 2)
  }

  function close(): void {
    tripped = false
    openUntil = 0
    pause = firstPause
    counts.clear()
  }

  function settleProbe(outcome: CallOutcome): void {
    probeSince = null
    if (outcome.kind === 'success') close()
    else if (outcome.kind === 'failure') trip(outcome.block)
  }

  function settleCall(outcome: CallOutcome): void {
    if (outcome.kind === 'neutral') return
    counts.add(outcome.kind === 'failure')
    if (outcome.kind === 'success') return
    // What began before it opened says nothing new of the fault, but it may say when to come back.
    if (tripped) {
      openUntil = Math.max(openUntil, clock() + (outcome.block ?? 0))
      return
    }
    const { calls, failures } = counts.sum()
    if (outcome.block !== undefined) trip(outcome.block)
    else if (calls >= fewestSamples && failures >= calls * failureShare) trip(undefined)
  }

  return {
    state,
    enter() {
      const now = state()
      if (now === 'open') return null
      if (now === 'closed') return permit(settleCall)
      if (probeSince !== null && clock() - probeSince < longestProbe) return null
      probeSince = clock()
      return permit(settleProbe)
    },
    retryInMilliseconds() {
      if (state() === 'half-open' && probeSince !== null) return probeWait
      return Math.max(0, openUntil - clock())
    },
    window: () => counts.sum(),
  }
}

function permit(settle: (outcome: CallOutcome) => void): CallPermit {
  let settled = false
  return {
    settle(outcome) {
      if (settled) return
      settled = true
      settle(outcome)
    },
  }
}

/** Calls and failures by second, in a ring: constant memory however many calls there are. */
function createWindow(clock: () => number) {
  const seconds = new Float64Array(windowSeconds)
  const calls = new Uint32Array(windowSeconds)
  const failures = new Uint32Array(windowSeconds)
  return {
    add(failed: boolean): void {
      const second = Math.floor(clock() / 1_000)
      const slot = second % windowSeconds
      if (seconds[slot] !== second) {
        seconds[slot] = second
        calls[slot] = 0
        failures[slot] = 0
      }
      calls[slot] = (calls[slot] ?? 0) + 1
      if (failed) failures[slot] = (failures[slot] ?? 0) + 1
    },
    sum(): { calls: number; failures: number } {
      const oldest = Math.floor(clock() / 1_000) - windowSeconds
      const total = { calls: 0, failures: 0 }
      for (const [slot, second] of seconds.entries()) {
        if (second <= oldest) continue
        total.calls += calls[slot] ?? 0
        total.failures += failures[slot] ?? 0
      }
      return total
    },
    clear(): void {
      seconds.fill(0)
    },
  }
}
