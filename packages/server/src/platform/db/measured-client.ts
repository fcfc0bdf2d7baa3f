import type { PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { ConnectionError, toDatabaseError } from './database-errors.ts'

/** How much later than the server we give up on a statement, in milliseconds: only a server that is gone is that late. */
const defaultStatementGraceMilliseconds = 5_000
/** How long a caller may hold a connection without using it, in milliseconds. It keeps others, or locks, waiting. */
const defaultIdleLimitMilliseconds = 60_000

/** A connection of a pool as Kysely wants it, which speaks our errors and cannot be held or hang for good. */
export interface MeasuredClient extends PostgresPoolClient {
  /** Sets how long a statement may take from now on, in milliseconds; returns the limit before. */
  limitStatements(milliseconds: number): number
  /** Breaks the connection: what runs on it, and whatever is asked of it later, fails with `reason`. */
  break(reason: Error): void
}

/** `acquired` is to be called each time the pool hands the connection out. */
export interface PooledClient {
  client: MeasuredClient
  acquired(): void
}

export function createMeasuredClient(options: {
  client: pg.PoolClient
  statementTimeoutMilliseconds: number
  statementGraceMilliseconds?: number | undefined
  idleLimitMilliseconds?: number | undefined
  onBroken(error: Error): void
  onReleased(): void
}): PooledClient {
  const { client } = options
  const idleLimit = options.idleLimitMilliseconds ?? defaultIdleLimitMilliseconds
  const grace = options.statementGraceMilliseconds ?? defaultStatementGraceMilliseconds
  let limit = options.statementTimeoutMilliseconds
  let broken: Error | undefined
  let held = false
  let timer: NodeJS.Timeout | undefined

  const markBroken = (error: Error) => {
    if (broken) return
    broken = error
    options.onBroken(error)
  }
  const release = (destroy?: boolean) => {
    if (!held) return
    held = false
    clearTimeout(timer)
    options.onReleased()
    client.release(broken ?? destroy)
  }
  const breakWith = (reason: Error) => {
    markBroken(reason)
    // Ends the socket at once, also where a statement is running.
    void client.end()
    // On behalf of a holder who may never do it; otherwise the pool would be one connection smaller for good.
    release()
  }
  const watch = (milliseconds: number, problem: string) => {
    clearTimeout(timer)
    timer = setTimeout(
      () => breakWith(new ConnectionError(`${problem} for ${milliseconds} ms`)),
      milliseconds,
    )
    timer.unref()
  }
  const watchIdle = () => watch(idleLimit, 'a connection was held without being used')
  // While the connection is handed out nobody else listens, and an error without a listener ends the process.
  client.on('error', markBroken)

  const query = async (sql: string, parameters: readonly unknown[]) => {
    if (broken) throw toDatabaseError(broken)
    watch(limit + grace, 'the database did not answer')
    try {
      return await client.query(sql, parameters as unknown[])
    } catch (error) {
      // The first error says why; the driver's next ones only that the connection is gone.
      throw toDatabaseError(broken ?? error)
    } finally {
      if (held) watchIdle()
    }
  }
  return {
    acquired: () => {
      held = true
      watchIdle()
    },
    client: {
      // Kysely's second overload is for cursors, which nothing here uses.
      query: query as unknown as PostgresPoolClient['query'],
      release,
      limitStatements: (milliseconds) => {
        const before = limit
        limit = milliseconds
        return before
      },
      break: breakWith,
    },
  }
}
