import { Kysely, PostgresDialect, type PostgresPool, sql, type Transaction } from 'kysely'
import { AppError } from '../../base/app-error.ts'
import type { WorkspaceScope } from '../identity/workspace-scope.ts'
import type { Database } from './database.ts'
import { ConnectionError } from './database-errors.ts'
import type { DatabaseLogger } from './database-logger.ts'
import type { MeasuredClient } from './measured-client.ts'
import { createMeasuredPool, type MeasuredPool, type MeasuredPoolOptions } from './measured-pool.ts'
import type { Migration } from './migrations.ts'
import { migrationsCurrent } from './migrator.ts'
import type { Tables } from './tables.ts'

/** What differs between the engines once there is a pool. */
export interface PoolDatabaseOptions extends MeasuredPoolOptions {
  engine: Database['engine']
  migrations: readonly Migration[]
  /** Tells the engine how long a statement on the connection may run from now on, in milliseconds. */
  limitStatements(client: MeasuredClient, milliseconds: number): Promise<void>
}

/** Longest wait for connections still in use when the database closes, in milliseconds. */
const drainBudgetMilliseconds = 5_000

/** A Database over a `pg` pool, which either engine is. */
export function createPoolDatabase(options: PoolDatabaseOptions): Database {
  const pool = createMeasuredPool(options)
  const kysely = createKysely(pool)
  let closing: Promise<void> | undefined
  return {
    engine: options.engine,
    kysely,
    inWorkspace: (scope, work) => inWorkspace(kysely, scope, work),
    withStatementTimeout: (milliseconds, work) => withStatementTimeout(pool, options, milliseconds, work),
    ping: (timeoutMilliseconds) => ping(pool, timeoutMilliseconds),
    migrationsCurrent: () => migrationsCurrent(kysely, options.migrations),
    statistics: () => pool.statistics(),
    [Symbol.asyncDispose]: () => {
      closing ??= close(kysely, pool, options.logger)
      return closing
    },
  }
}

async function inWorkspace<T>(
  kysely: Kysely<Tables>,
  scope: WorkspaceScope,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return await kysely.transaction().execute(async (transaction) => {
    // Local to the transaction, both: neither can outlive it on a pooled connection.
    await sql`select set_config('role', 'atelier_app', true),
      set_config('atelier.workspace_id', ${scope.workspaceId}, true)`.execute(transaction)
    return await work(transaction)
  })
}

async function ping(pool: MeasuredPool, timeoutMilliseconds: number): Promise<void> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    timeout.reject(
      new AppError('SERVICE_UNAVAILABLE', `The database did not answer within ${timeoutMilliseconds} ms`),
    )
  }, timeoutMilliseconds)
  try {
    await Promise.race([selectOne(pool), timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Gives the connection back by itself, also when nobody waits for the answer any more. */
async function selectOne(pool: MeasuredPool): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('select 1', [])
  } finally {
    client.release()
  }
}

async function withStatementTimeout<T>(
  pool: MeasuredPool,
  options: PoolDatabaseOptions,
  milliseconds: number,
  work: (connection: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  const before = client.limitStatements(milliseconds)
  try {
    await options.limitStatements(client, milliseconds)
    return await work(createKysely({ ...pool, connect: async () => ({ ...client, release() {} }) }))
  } finally {
    client.limitStatements(before)
    // Fails on a broken connection, which nobody gets again.
    await options.limitStatements(client, before).catch(client.break)
    client.release()
  }
}

function createKysely(pool: PostgresPool): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

async function close(kysely: Kysely<Tables>, pool: MeasuredPool, logger: DatabaseLogger): Promise<void> {
  const timer = setTimeout(() => {
    logger.warn({ connections: pool.statistics().total }, 'closing the database while it is in use')
    pool.breakAll(new ConnectionError('the database is closed'))
  }, drainBudgetMilliseconds)
  await kysely.destroy()
  // Kysely ends the pool only if it has used it.
  await pool.end()
  clearTimeout(timer)
}
