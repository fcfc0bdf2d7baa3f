import type { ErrorCode, ErrorDetails } from '@atelier/contract'
import type { AgentErrorCode } from '@atelier/contract/agent-protocol'
import { AppError } from '../../base/app-error.ts'

/** What a call to an agent fails with. `GONE`: the connection ended before the answer came. */
export class AgentError extends Error {
  override name = 'AgentError'
  readonly code: AgentErrorCode | 'GONE'
  readonly details: Record<string, unknown> | undefined

  constructor(code: AgentErrorCode | 'GONE', message: string, details?: Record<string, unknown>) {
    super(message)
    this.code = code
    this.details = details
  }
}

const codes: Record<AgentErrorCode | 'GONE', ErrorCode> = {
  INVALID: 'INVALID_REQUEST',
  NOT_FOUND: 'NOT_FOUND',
  CONFLICT: 'CONFLICT',
  NOT_A_FILE: 'INVALID_REQUEST',
  NOT_A_DIRECTORY: 'INVALID_REQUEST',
  NOT_EMPTY: 'CONFLICT',
  LINK_REFUSED: 'INVALID_REQUEST',
  TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  BUSY: 'SERVICE_UNAVAILABLE',
  PERMISSION: 'FORBIDDEN',
  NO_SPACE: 'SERVICE_UNAVAILABLE',
  CANCELLED: 'SERVICE_UNAVAILABLE',
  TIMEOUT: 'TIMEOUT',
  REFUSED: 'SERVICE_UNAVAILABLE',
  UNSUPPORTED: 'SERVICE_UNAVAILABLE',
  FENCED: 'SERVICE_UNAVAILABLE',
  INTERNAL: 'INTERNAL_ERROR',
  GONE: 'SERVICE_UNAVAILABLE',
}

/** The caller's view of an agent's refusal. Messages speak of paths in the workspace only, so they may be shown. */
export function appErrorFrom(error: AgentError): AppError {
  const details: ErrorDetails = { ...error.details, reason: error.code }
  return new AppError(codes[error.code], error.message, { details, cause: error })
}
