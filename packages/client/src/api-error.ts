import { type ErrorCode, type ErrorDetails, FailureEnvelope } from '@atelier/contract'

/**
 * The server's codes, and two of the client's own: `NETWORK_ERROR` (no answer came; status 0) and `BAD_ANSWER`
 * (an answer came that is not of the contract's shape, as from a proxy in between).
 */
export type ClientErrorCode = ErrorCode | 'NETWORK_ERROR' | 'BAD_ANSWER'

export interface ApiErrorFacts {
  code: ClientErrorCode
  /** HTTP status; 0 where no answer came */
  status: number
  message: string
  details?: ErrorDetails | undefined
  requestId?: string | undefined
  /** from `Retry-After`, in seconds */
  retryAfterSeconds?: number | undefined
  cause?: unknown
}

/** What every failed call throws, except one that the caller aborted: that rejects with the signal's reason. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ClientErrorCode
  readonly status: number
  readonly details: ErrorDetails | undefined
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(facts: ApiErrorFacts) {
    super(facts.message, { cause: facts.cause })
    this.code = facts.code
    this.status = facts.status
    this.details = facts.details
    this.requestId = facts.requestId
    this.retryAfterSeconds = facts.retryAfterSeconds
  }

  /** What is wrong with one parameter, by its dotted path; undefined where nothing is. */
  issueOf(field: string): string | undefined {
    const listed = this.details?.issues?.find((issue) => issue.field === field)
    if (listed !== undefined) return listed.issue
    return this.details?.field === field ? this.details.issue : undefined
  }
}

/** Reads a failure from its envelope; an answer without one becomes `BAD_ANSWER` with its status. */
export function failureOf(status: number, headers: Headers, text: string): ApiError {
  const requestId = headers.get('x-request-id') ?? undefined
  const retryAfterSeconds = retryAfterOf(headers)
  const envelope = FailureEnvelope.safeParse(parseJson(text))
  if (!envelope.success) {
    const message = `The server answered ${status} without an explanation`
    return new ApiError({ code: 'BAD_ANSWER', status, message, requestId, retryAfterSeconds })
  }
  const { error } = envelope.data
  return new ApiError({ ...error, status, requestId: envelope.data.requestId, retryAfterSeconds })
}

/** The value of JSON text, or undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `Retry-After` as seconds or as a date (RFC 9110, section 10.2.3). */
function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  if (/^\d+$/.test(value)) return Number(value)
  const milliseconds = Date.parse(value) - Date.now()
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, Math.ceil(milliseconds / 1000))
}
