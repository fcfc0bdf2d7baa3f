import pg from 'pg'
import {
  clusterDirectoryOf,
  copyCluster,
  describeSpace,
  hasCluster,
  makeDataDirectory,
  markCluster,
  placeCluster,
} from './data-directory.ts'
import { DataDirectoryError } from './data-directory-error.ts'
import { lockDataDirectory } from './data-directory-lock.ts'
import type { Database, DatabaseOptions } from './database.ts'
import { type DatabaseLogger, silentLogger } from './database-logger.ts'
import { migrationsDirectory, readMigrations } from './migrations.ts'
import { migrate, migrationBudgetMilliseconds } from './migrator.ts'
import { createPgliteHost, type PgliteHost } from './pglite-host.ts'
import { startPgliteMaintenance } from './pglite-maintenance.ts'
import { PgliteSocket } from './pglite-socket.ts'
import { preparePgliteTemplate } from './pglite-template.ts'
import { openPgliteThread } from './pglite-thread.ts'
import { createPoolDatabase } from './pool-database.ts'
import { defaultStatementTimeoutMilliseconds } from './postgres-database.ts'
import { valueTypes } from './value-types.ts'

/** The one connection is shared by everyone, so a caller waits longer than on a server: milliseconds. */
const defaultAcquireTimeoutMilliseconds = 10_000

/** The embedded engine in `dataDirectory`, migrated. Throws as `openDatabase` does. */
export async function openPgliteDatabase(options: DatabaseOptions): Promise<Database> {
  const logger = options.logger ?? silentLogger
  const migrations = await readMigrations(options.migrationsDirectory ?? migrationsDirectory)
  const statementTimeoutMilliseconds =
    options.statementTimeoutMilliseconds ?? defaultStatementTimeoutMilliseconds
  await using stack = new AsyncDisposableStack()
  const host = stack.use(await openHost({ ...options, statementTimeoutMilliseconds }, logger))
  const database = stack.use(
    createPoolDatabase({
      engine: 'pglite',
      pool: createPool(host, options),
      max: 1,
      statementTimeoutMilliseconds,
      statementGraceMilliseconds: options.statementGraceMilliseconds,
      idleLimitMilliseconds: options.idleLimitMilliseconds,
      migrations,
      logger,
      // The connection is the only one, so the limit of the engine is its limit.
      limitStatements: async (_client, milliseconds) => host.limitStatements(milliseconds),
    }),
  )
  await database.withStatementTimeout(migrationBudgetMilliseconds, (connection) =>
    migrate({ connection, migrations, logger }),
  )
  stack.use(startPgliteMaintenance({ withStatementTimeout: database.withStatementTimeout, logger }))
  const owned = stack.move()
  return { ...database, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Locks the directory, makes sure there is a cluster in it, and opens that. */
async function openHost(
  options: DatabaseOptions & { statementTimeoutMilliseconds: number },
  logger: DatabaseLogger,
): Promise<PgliteHost> {
  const { dataDirectory, statementTimeoutMilliseconds, durable = true } = options
  await makeDataDirectory(dataDirectory)
  await using stack = new AsyncDisposableStack()
  const host = createPgliteHost({
    clusterDirectory: clusterDirectoryOf(dataDirectory),
    durable,
    statementTimeoutMilliseconds,
    logger,
  })
  stack.use(await lock(dataDirectory, host, logger))
  await provideCluster(options)
  stack.use(host)
  await openCluster(host, dataDirectory)
  const owned = stack.move()
  return { ...host, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function lock(
  dataDirectory: string,
  host: PgliteHost,
  logger: DatabaseLogger,
): Promise<AsyncDisposable> {
  const onLost = (error: DataDirectoryError) => {
    logger.error({ err: error }, 'the embedded database stops for good')
    void host.abandon(error)
  }
  try {
    return await lockDataDirectory({ directory: dataDirectory, onLost })
  } catch (cause) {
    if (cause instanceof DataDirectoryError) throw cause
    throw new DataDirectoryError(`The database directory ${dataDirectory} cannot be written.`, { cause })
  }
}

/**
 * Makes sure there is a cluster: the one that is there, a copy of the template, or a new one. Only for a directory that
 * no other process uses. Throws DataDirectoryError.
 */
export async function provideCluster(
  options: Pick<
    DatabaseOptions,
    'dataDirectory' | 'templateDirectory' | 'migrationsDirectory' | 'logger' | 'durable'
  >,
): Promise<void> {
  const { dataDirectory, templateDirectory, durable = true } = options
  await makeDataDirectory(dataDirectory)
  // A start that was interrupted in between left the cluster unmarked.
  if (await hasCluster(dataDirectory)) return await markCluster(dataDirectory)
  try {
    await placeCluster({ dataDirectory, durable }, async (clusterDirectory) => {
      if (templateDirectory === undefined) return await initializeCluster(clusterDirectory)
      copyCluster(await ensurePgliteTemplate({ ...options, templateDirectory }), clusterDirectory)
    })
  } catch (error) {
    const space = await describeSpace(dataDirectory)
    throw new DataDirectoryError(`The database in ${dataDirectory} cannot be made${space}.`, { cause: error })
  }
}

/** The directory of a migrated cluster that new databases are copied from, made first if it is not there. */
export async function ensurePgliteTemplate(options: {
  templateDirectory: string
  migrationsDirectory?: string | undefined
  logger?: DatabaseLogger | undefined
}): Promise<string> {
  const { templateDirectory, logger } = options
  const migrations = await readMigrations(options.migrationsDirectory ?? migrationsDirectory)
  if (migrations.length === 0) return await ensureEmptyTemplate(templateDirectory)
  const build = async (dataDirectory: string) => {
    const empty = await ensureEmptyTemplate(templateDirectory)
    await makeDataDirectory(dataDirectory)
    await placeCluster({ dataDirectory, durable: true }, async (directory) => copyCluster(empty, directory))
    const database = await openPgliteDatabase({
      ...options,
      templateDirectory: undefined,
      dataDirectory,
      logger,
    })
    await database[Symbol.asyncDispose]()
    return clusterDirectoryOf(dataDirectory)
  }
  return await preparePgliteTemplate({ templateDirectory, migrations, build })
}

/** Apart from the migrations, since it takes seconds and they change often. */
async function ensureEmptyTemplate(templateDirectory: string): Promise<string> {
  const build = async (directory: string) => {
    await initializeCluster(directory)
    return directory
  }
  return await preparePgliteTemplate({ templateDirectory, migrations: [], build })
}

/** The engine makes what it does not find. */
async function initializeCluster(clusterDirectory: string): Promise<void> {
  const thread = await openPgliteThread({
    clusterDirectory,
    // What it makes is synchronised as a whole afterwards.
    durable: false,
    statementLimit: () => defaultStatementTimeoutMilliseconds,
  })
  await thread.close()
}

async function openCluster(host: PgliteHost, dataDirectory: string): Promise<void> {
  try {
    await host.thread()
  } catch (error) {
    throw new DataDirectoryError(
      `The database in ${dataDirectory} cannot be opened: the directory is damaged or not writable. ` +
        'Restore it from a backup, or move it away to start with an empty database.',
      { cause: error },
    )
  }
}

function createPool(host: PgliteHost, options: DatabaseOptions): pg.Pool {
  return new pg.Pool({
    max: 1,
    // The one session is kept: a new one would cost a start-up and give the same engine.
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: options.acquireTimeoutMilliseconds ?? defaultAcquireTimeoutMilliseconds,
    stream: () => new PgliteSocket(() => host.thread()),
    types: valueTypes,
    // Said outright, since the driver would take what is missing from PGUSER, PGSSLMODE and their kin.
    user: 'postgres',
    database: 'postgres',
    host: 'embedded',
    port: 5432,
    password: '',
    ssl: false,
  })
}
