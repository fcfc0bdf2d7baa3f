import { ApiError } from '@atelier/client'

/** What the server found wrong with one field; undefined where nothing is. */
export function issueFor(error: unknown, field: string): string | undefined {
  const issue = error instanceof ApiError ? error.issueOf(field) : undefined
  return issue === undefined ? undefined : issue.charAt(0).toUpperCase() + issue.slice(1)
}

/** Whether every part of the error is shown beside its field, so that nothing more needs to be said. */
export function isFieldError(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'VALIDATION_ERROR' && error.details?.field !== undefined
}
