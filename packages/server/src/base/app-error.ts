import type { ErrorCode, ErrorDetails, ValidationIssue } from '@atelier/contract'

/** The one error that crosses layers: its code decides the HTTP status; `cause` is for the log, never for the caller. */
export class AppError extends Error {
  override name = 'AppError'
  readonly code: ErrorCode
  readonly details: ErrorDetails | undefined

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = options.details
  }
}

export function notFound(what: string): AppError {
  return new AppError('NOT_FOUND', `${what} not found`)
}

/** A parameter that fails its schema: names the first fault and lists all. `issues` must not be empty. */
export function validationError(issues: ValidationIssue[]): AppError {
  const first = issues[0] ?? { field: '', issue: 'invalid' }
  return new AppError('VALIDATION_ERROR', `${first.field || 'request'}: ${first.issue}`, {
    details: { ...first, issues },
  })
}

export function invalidField(field: string, issue: string): AppError {
  return validationError([{ field, issue }])
}
