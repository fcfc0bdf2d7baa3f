import type { AgentErrorCode } from '@atelier/contract/agent-protocol'

/** The one error an operation fails with; it crosses the stream as a `fail` frame. */
export class Fault extends Error {
  override name = 'Fault'
  readonly code: AgentErrorCode
  readonly details: Record<string, unknown> | undefined

  constructor(
    code: AgentErrorCode,
    message: string,
    options: { details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = options.details
  }
}

const faultOfErrno: Partial<Record<string, AgentErrorCode>> = {
  ENOENT: 'NOT_FOUND',
  EEXIST: 'CONFLICT',
  ENOTDIR: 'NOT_A_DIRECTORY',
  EISDIR: 'NOT_A_FILE',
  ENOTEMPTY: 'NOT_EMPTY',
  ELOOP: 'LINK_REFUSED',
  EACCES: 'PERMISSION',
  EPERM: 'PERMISSION',
  EROFS: 'PERMISSION',
  ENOSPC: 'NO_SPACE',
  EDQUOT: 'NO_SPACE',
  EFBIG: 'TOO_LARGE',
  ENAMETOOLONG: 'INVALID',
  EMFILE: 'BUSY',
  ENFILE: 'BUSY',
  EAGAIN: 'BUSY',
  ECONNREFUSED: 'REFUSED',
}

/** The errno name of a failed system call, if that is what `error` is. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Unknown becomes ours here. The message names the errno, never a path outside the workspace. */
export function faultFrom(error: unknown): Fault {
  if (error instanceof Fault) return error
  const errno = errnoOf(error)
  const code = errno === undefined ? undefined : faultOfErrno[errno]
  if (code !== undefined) return new Fault(code, `refused by the file system: ${errno}`, { cause: error })
  if (error instanceof Error && error.name === 'AbortError')
    return new Fault('CANCELLED', 'cancelled', { cause: error })
  return new Fault(
    'INTERNAL',
    error instanceof Error ? `${error.name}: ${error.message}` : 'unknown failure',
    { cause: error },
  )
}

/** Runs `act` and turns the errors of one errno into nothing. */
export function ignoring<Value>(errno: string, act: () => Value): Value | undefined {
  try {
    return act()
  } catch (error) {
    if (errnoOf(error) === errno) return undefined
    throw error
  }
}
