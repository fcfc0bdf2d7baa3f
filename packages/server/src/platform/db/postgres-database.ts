import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Database, DatabaseOptions } from './database.ts'
import { isConnectionFailure } from './database-errors.ts'
import { type DatabaseLogger, silentLogger } from './database-logger.ts'
import type { MeasuredClient } from './measured-client.ts'
import { migrationsDirectory, readMigrations } from './migrations.ts'
import { migrate, migrationBudgetMilliseconds } from './migrator.ts'
import { createPoolDatabase } from './pool-database.ts'
import { valueTypes } from './value-types.ts'

/** One statement of a request, in milliseconds: past it nobody waits for the answer any more. */
export const defaultStatementTimeoutMilliseconds = 30_000
const defaultPoolSize = 10
/** Readiness must turn within 2 s of exhaustion, so nobody waits longer than that for a connection: milliseconds. */
const defaultAcquireTimeoutMilliseconds = 2_000
/** How long the first connection is retried, in milliseconds: a server that starts beside us, or is in recovery. */
const startBudgetMilliseconds = 30_000
const startRetryMilliseconds = 500

/** A pool of connections to PostgreSQL, migrated. Throws as `openDatabase` does. */
export async function openPostgresDatabase(
  options: DatabaseOptions & { databaseUrl: string },
): Promise<Database> {
  const logger = options.logger ?? silentLogger
  const migrations = await readMigrations(options.migrationsDirectory ?? migrationsDirectory)
  const max = options.poolSize ?? defaultPoolSize
  const statementTimeoutMilliseconds =
    options.statementTimeoutMilliseconds ?? defaultStatementTimeoutMilliseconds
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    application_name: 'atelier',
    max,
    connectionTimeoutMillis: options.acquireTimeoutMilliseconds ?? defaultAcquireTimeoutMilliseconds,
    statement_timeout: statementTimeoutMilliseconds,
    // Finds out about a peer that vanished without a word.
    keepAlive: true,
    types: valueTypes,
  })
  await using stack = new AsyncDisposableStack()
  const database = stack.use(
    createPoolDatabase({
      engine: 'postgres',
      pool,
      max,
      statementTimeoutMilliseconds,
      statementGraceMilliseconds: options.statementGraceMilliseconds,
      idleLimitMilliseconds: options.idleLimitMilliseconds,
      migrations,
      logger,
      limitStatements,
    }),
  )
  await waitForServer(database, logger)
  await database.withStatementTimeout(migrationBudgetMilliseconds, (connection) =>
    migrate({ connection, migrations, logger }),
  )
  stack.move()
  return database
}

async function limitStatements(client: MeasuredClient, milliseconds: number): Promise<void> {
  await client.query("select set_config('statement_timeout', $1, false)", [String(milliseconds)])
}

async function waitForServer(database: Database, logger: DatabaseLogger): Promise<void> {
  const deadline = performance.now() + startBudgetMilliseconds
  for (;;) {
    try {
      return await database.ping(startBudgetMilliseconds)
    } catch (error) {
      const cause = (error as Error).cause
      if (!isConnectionFailure(cause) || performance.now() > deadline) throw error
      logger.warn({ err: cause }, 'PostgreSQL does not answer yet')
      await sleep(startRetryMilliseconds)
    }
  }
}
