import type { Kysely, Transaction } from 'kysely'
import type { WorkspaceScope } from '../identity/workspace-scope.ts'
import type { DatabaseLogger } from './database-logger.ts'
import { openPgliteDatabase } from './pglite-database.ts'
import { openPostgresDatabase } from './postgres-database.ts'
import type { Tables } from './tables.ts'

export interface Database extends AsyncDisposable {
  readonly engine: 'pglite' | 'postgres'
  /**
   * The system's own connection, to which row-level security does not apply: sign-in, workspace directory, jobs.
   * Never use it inside one of its own transactions: the embedded engine has one connection, so that waits for itself
   * until the acquire time-out.
   */
  readonly kysely: Kysely<Tables>
  /**
   * One transaction in which row-level security admits only the rows of `scope`. Commits when `work` resolves, rolls
   * back when it rejects. Statements outside the scope's tables are refused unless a migration grants them.
   */
  inWorkspace<T>(scope: WorkspaceScope, work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T>
  /** One connection for `work`, whose statements may run for `milliseconds` each: building an index, a migration. */
  withStatementTimeout<T>(milliseconds: number, work: (connection: Kysely<Tables>) => Promise<T>): Promise<T>
  /** One statement through the pool that requests use. Rejects when it is not answered within `timeoutMilliseconds`. */
  ping(timeoutMilliseconds: number): Promise<void>
  /** Whether the database has exactly the migrations of this build. */
  migrationsCurrent(): Promise<boolean>
  statistics(): PoolStatistics
}

/** The connections, now and since the start. The embedded engine is a pool of one. */
export interface PoolStatistics {
  max: number
  total: number
  idle: number
  waiting: number
  /** milliseconds until a connection was there, over the last 1,024 acquisitions; `null` before the first */
  acquire: { p50: number; p95: number; p99: number } | null
  /** acquisitions that gave up waiting, since the start */
  timeouts: number
  /** connections that broke, since the start */
  errors: number
}

export interface DatabaseOptions {
  /** `postgres://…`; without it the embedded engine runs in `dataDirectory` */
  databaseUrl?: string | undefined
  /** directory of the embedded database alone; made if missing; at most one process opens it */
  dataDirectory: string
  /** cache of ready-migrated embedded databases; without it a new one is initialised from nothing (seconds) */
  templateDirectory?: string | undefined
  /** whether the embedded engine waits for the disk at each commit, so that a power cut loses nothing; true unless told */
  durable?: boolean | undefined
  /** most connections to PostgreSQL, 10 unless told */
  poolSize?: number | undefined
  /** milliseconds a caller waits for a connection: 2,000 on PostgreSQL, 10,000 on the one embedded connection */
  acquireTimeoutMilliseconds?: number | undefined
  /** milliseconds one statement may run, 30,000 unless told; a migration has its own budget */
  statementTimeoutMilliseconds?: number | undefined
  /** milliseconds after that until a server that does not even stop the statement counts as gone, 5,000 unless told */
  statementGraceMilliseconds?: number | undefined
  /** milliseconds a caller may hold a connection without using it, 60,000 unless told */
  idleLimitMilliseconds?: number | undefined
  /** folder of numbered `.sql` files, this build's own unless a test says otherwise */
  migrationsDirectory?: string | undefined
  logger?: DatabaseLogger | undefined
}

/**
 * Opens and migrates the database. Throws MigrationError when the schema is not one this build can run on,
 * DataDirectoryError when the embedded directory is in use, damaged or not writable, and AppError SERVICE_UNAVAILABLE
 * when PostgreSQL does not answer.
 */
export function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { databaseUrl } = options
  return databaseUrl === undefined
    ? openPgliteDatabase(options)
    : openPostgresDatabase({ ...options, databaseUrl })
}
