import { ProviderError, type ProviderErrorOrigin } from './provider-error.ts'

/** How long a provider may take, in milliseconds. */
export interface AnswerLimits {
  /** from the request to the first part of the answer */
  firstPart: number
  /** between two parts */
  idle: number
  /** from the request to the end */
  total: number
}

/** Watches one request: its signal aborts when the caller aborts or a limit passes. */
export interface AnswerWatch {
  readonly signal: AbortSignal
  /** The answer has begun: from now on silence counts against the idle limit. */
  begin(): void
  /** Something arrived. */
  touch(): void
  /** No limit applies any more; must be called at the end of every request. */
  stop(): void
  /** Nobody wants the answer any more: aborts what is under way. */
  abandon(): void
}

/** The reason of the signal is the caller's own reason, or a ProviderError of kind `timeout`. */
export function watchAnswer(options: {
  limits: AnswerLimits
  origin: ProviderErrorOrigin
  callerSignal: AbortSignal | undefined
}): AnswerWatch {
  const { limits, origin, callerSignal } = options
  const controller = new AbortController()
  const started = performance.now()
  let touched = started
  let silence = { limit: limits.firstPart, reason: 'first_part_timeout' }
  let timer: NodeJS.Timeout | undefined

  // One timer that re-arms itself costs less than one for each part of a fast stream.
  function check(): void {
    const now = performance.now()
    const untilSilence = touched + silence.limit - now
    const untilTotal = started + limits.total - now
    if (untilTotal <= 0) expire('total_timeout')
    else if (untilSilence <= 0) expire(silence.reason)
    else timer = setTimeout(check, Math.ceil(Math.min(untilSilence, untilTotal)) + 1)
  }

  function expire(reason: string): void {
    stop()
    controller.abort(new ProviderError('timeout', origin, { reason }))
  }

  function abortByCaller(): void {
    stop()
    controller.abort(callerSignal?.reason)
  }

  function stop(): void {
    clearTimeout(timer)
    callerSignal?.removeEventListener('abort', abortByCaller)
  }

  if (callerSignal?.aborted) controller.abort(callerSignal.reason)
  else {
    callerSignal?.addEventListener('abort', abortByCaller, { once: true })
    check()
  }
  return {
    signal: controller.signal,
    begin() {
      silence = { limit: limits.idle, reason: 'idle_timeout' }
      touched = performance.now()
      clearTimeout(timer)
      if (!controller.signal.aborted) check()
    },
    touch() {
      touched = performance.now()
    },
    stop,
    abandon() {
      stop()
      controller.abort()
    },
  }
}
