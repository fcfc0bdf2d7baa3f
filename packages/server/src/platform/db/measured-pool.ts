import type { PostgresPool } from 'kysely'
import type pg from 'pg'
import { AppError } from '../../base/app-error.ts'
import { type AcquireStatistics, createAcquireStatistics } from './acquire-statistics.ts'
import type { PoolStatistics } from './database.ts'
import { toDatabaseError } from './database-errors.ts'
import type { DatabaseLogger } from './database-logger.ts'
import { createMeasuredClient, type MeasuredClient, type PooledClient } from './measured-client.ts'

/** A `pg` pool as Kysely wants it, which counts, times, and speaks our errors. */
export interface MeasuredPool extends PostgresPool {
  connect(): Promise<MeasuredClient>
  /** Breaks every connection that is in use. */
  breakAll(reason: Error): void
  statistics(): PoolStatistics
}

export interface MeasuredPoolOptions {
  pool: pg.Pool
  max: number
  /** milliseconds one statement may run */
  statementTimeoutMilliseconds: number
  /** how much later than the server we give up on a statement, in milliseconds; 5,000 unless told */
  statementGraceMilliseconds?: number | undefined
  /** milliseconds a caller may hold a connection without using it; 60,000 unless told */
  idleLimitMilliseconds?: number | undefined
  logger: DatabaseLogger
}

/** What `pg-pool` says when no connection came free in time. */
const waitedTooLong = 'timeout exceeded when trying to connect'

export function createMeasuredPool(options: MeasuredPoolOptions): MeasuredPool {
  const { pool, max, logger } = options
  const acquire = createAcquireStatistics()
  const clients = new WeakMap<pg.PoolClient, PooledClient>()
  const inUse = new Set<MeasuredClient>()
  const counts = { timeouts: 0, errors: 0 }
  let ended: Promise<void> | undefined
  pool.on('connect', (client) => {
    const pooled = createMeasuredClient({
      ...options,
      client,
      onBroken: (error) => {
        counts.errors += 1
        logger.warn({ err: error }, 'a database connection broke')
      },
      onReleased: () => inUse.delete(pooled.client),
    })
    clients.set(client, pooled)
  })
  // The client's own listener has reported it; without this one an idle connection that breaks would end the process.
  pool.on('error', () => {})
  return {
    connect: async () => {
      const client = await timed(acquire, () => pool.connect()).catch((error: unknown) => {
        throw acquireError(error, pool, counts)
      })
      const pooled = clients.get(client)
      if (!pooled) throw new Error('the pool handed out a connection that it never announced')
      pooled.acquired()
      inUse.add(pooled.client)
      return pooled.client
    },
    end: () => {
      ended ??= pool.end()
      return ended
    },
    options: {},
    breakAll: (reason) => {
      for (const client of inUse) client.break(reason)
    },
    statistics: () => ({
      max,
      total: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      acquire: acquire.percentiles(),
      ...counts,
    }),
  }
}

async function timed<T>(acquire: AcquireStatistics, work: () => Promise<T>): Promise<T> {
  const start = performance.now()
  const result = await work()
  acquire.record(performance.now() - start)
  return result
}

function acquireError(error: unknown, pool: pg.Pool, counts: { timeouts: number; errors: number }): unknown {
  if (!(error instanceof Error && error.message === waitedTooLong)) {
    counts.errors += 1
    return toDatabaseError(error)
  }
  counts.timeouts += 1
  const budget = pool.options.connectionTimeoutMillis
  const cause = new Error(
    `no connection within ${budget} ms: all ${pool.totalCount} are in use and ${pool.waitingCount} more callers wait. ` +
      'A query on the database inside one of its own transactions waits for itself: pass the transaction on.',
    { cause: error },
  )
  return new AppError('SERVICE_UNAVAILABLE', 'The database is busy', { cause })
}
