import { AppError } from '../../base/app-error.ts'

/** SQLSTATE of what the store code asks about; https://www.postgresql.org/docs/current/errcodes-appendix.html */
export const sqlState = {
  uniqueViolation: '23505',
  foreignKeyViolation: '23503',
  insufficientPrivilege: '42501',
  undefinedTable: '42P01',
  queryCanceled: '57014',
  characterNotInRepertoire: '22021',
} as const

/** The SQLSTATE of a database error, `undefined` for any other value. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** Whether a write collided with a unique index, of the given name if one is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (sqlStateOf(error) !== sqlState.uniqueViolation) return false
  return constraint === undefined || (error as { constraint?: string }).constraint === constraint
}

/**
 * What a caller above the stores should see. A statement that ran too long is TIMEOUT, a database that is not there is
 * SERVICE_UNAVAILABLE, a text that it cannot hold INVALID_REQUEST, all with the original as cause. Anything else is left alone: a store knows what its own
 * constraint violations mean, and the rest is a fault of ours.
 */
export function toDatabaseError(error: unknown): unknown {
  if (error instanceof AppError) return error
  if (sqlStateOf(error) === sqlState.queryCanceled) {
    return new AppError('TIMEOUT', 'The database took too long to answer', { cause: error })
  }
  // A string of JSON may hold a NUL, a text of PostgreSQL may not.
  if (sqlStateOf(error) === sqlState.characterNotInRepertoire) {
    return new AppError('INVALID_REQUEST', 'A text holds a NUL, which cannot be stored', { cause: error })
  }
  if (isConnectionFailure(error)) {
    return new AppError('SERVICE_UNAVAILABLE', 'The database is not available', { cause: error })
  }
  return error
}

/** Marks an error of the connection itself where the driver gives no code. */
export class ConnectionError extends Error {
  override name = 'ConnectionError'
}

/**
 * 08: connection exception, 53: no connections, memory or disk left, 57P0x: the server is shutting down, crashed or
 * starting, 58: a system error such as a failed write. 3D000 is a missing database, which an operator creates while we
 * wait.
 */
const unavailableStates = /^(08...|53...|57P0.|58...|3D000)$/
const unavailableSystemCodes =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)$/
/** What `pg` says, without a code, about a connection that ended. */
const driverMessages = /^(Connection terminated|Client has encountered a connection error|timeout expired)/

export function isConnectionFailure(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  if (error instanceof AggregateError) return error.errors.some(isConnectionFailure)
  if (!(error instanceof Error)) return false
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string') return unavailableStates.test(code) || unavailableSystemCodes.test(code)
  return driverMessages.test(error.message)
}
