import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Database,
  type DatabaseOptions,
  migrationsDigest,
  migrationsDirectory,
  openDatabase,
  provideCluster,
  readMigrations,
} from '@atelier/server/database'
import pg from 'pg'

export type DatabaseEngine = Database['engine']

/** An engine this machine can test, or why it cannot. */
export interface TestableEngine {
  engine: DatabaseEngine
  unavailable?: string
}

/** Options of the database under test that a test may set. */
export type TestDatabaseOptions = Omit<DatabaseOptions, 'databaseUrl' | 'dataDirectory' | 'templateDirectory'>

/** Where the ready-migrated embedded databases are kept between runs. */
export const templateDirectory = join(import.meta.dirname, '../../../node_modules/.cache/atelier/pglite')

/** Set by `test/global-setup.ts`, or by a person: a superuser's URL of a server where databases can be made. */
export const urlVariable = 'ATELIER_TEST_DATABASE_URL'
/** Set by `test/global-setup.ts` when there is no such server. */
export const missingVariable = 'ATELIER_TEST_DATABASE_MISSING'

export function databaseEngines(): TestableEngine[] {
  if (process.env[urlVariable]) return [{ engine: 'pglite' }, { engine: 'postgres' }]
  const unavailable = process.env[missingVariable] ?? `${urlVariable} is not set`
  return [{ engine: 'pglite' }, { engine: 'postgres', unavailable }]
}

/** A fresh, migrated database that is gone when disposed of. */
export async function openTestDatabase(
  engine: DatabaseEngine = 'pglite',
  options: TestDatabaseOptions = {},
): Promise<Database> {
  return engine === 'pglite' ? await openPglite(options) : await openPostgres(options)
}

/** Where a fresh database can be opened with `openDatabase`, several times if need be. Gone when disposed of. */
export interface DatabaseSite extends AsyncDisposable {
  readonly place: Pick<DatabaseOptions, 'databaseUrl' | 'dataDirectory' | 'durable'>
}

/** What is there before the test: all tables, a database without any, or (embedded) not even that. */
export type SiteContent = 'migrated' | 'unmigrated' | 'nothing'

export async function createDatabaseSite(
  engine: DatabaseEngine,
  content: SiteContent = 'migrated',
): Promise<DatabaseSite> {
  return engine === 'pglite' ? await createPgliteSite(content) : await createPostgresSite(content)
}

async function openPglite(options: TestDatabaseOptions): Promise<Database> {
  return await openOnSite(await createPgliteSite('migrated'), options)
}

async function openPostgres(options: TestDatabaseOptions): Promise<Database> {
  return await openOnSite(await createPostgresSite('migrated'), { poolSize: 5, ...options })
}

async function openOnSite(site: DatabaseSite, options: TestDatabaseOptions): Promise<Database> {
  await using owned = new AsyncDisposableStack()
  owned.use(site)
  const database = await openDatabase({ ...options, ...site.place })
  const kept = owned.move()
  kept.use(database)
  return { ...database, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

async function createPgliteSite(content: SiteContent): Promise<DatabaseSite> {
  const directory = await mkdtemp(join(tmpdir(), 'atelier-database-'))
  // Nobody cuts the power of a test, and waiting for the disk is most of the time of a commit.
  const place = { dataDirectory: join(directory, 'database'), durable: false }
  if (content === 'migrated') await provideCluster({ ...place, templateDirectory })
  if (content === 'unmigrated') {
    await provideCluster({ ...place, templateDirectory, migrationsDirectory: directory })
  }
  return { place, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) }
}

async function createPostgresSite(content: SiteContent): Promise<DatabaseSite> {
  const serverUrl = process.env[urlVariable]
  if (!serverUrl) throw new Error(`${urlVariable} is not set`)
  const name = `atelier_test_${randomUUID().replaceAll('-', '')}`
  const template = content === 'migrated' ? await ensurePostgresTemplate(serverUrl) : 'template0'
  await administer(serverUrl, (client) => client.query(`create database ${name} template ${template}`))
  return {
    place: { databaseUrl: withDatabase(serverUrl, name), dataDirectory: '' },
    [Symbol.asyncDispose]: async () => {
      await administer(serverUrl, (client) => client.query(`drop database if exists ${name} with (force)`))
    },
  }
}

/** Makes the migrated database that the others are cloned from, unless some process of this run has. */
export async function ensurePostgresTemplate(serverUrl: string): Promise<string> {
  const digest = migrationsDigest(await readMigrations(migrationsDirectory))
  const name = `atelier_template_${createHash('sha256').update(digest).digest('hex').slice(0, 16)}`
  await administer(serverUrl, async (client) => {
    // One maker at a time; any constant will do, and the end of the session releases it.
    await client.query('select pg_advisory_lock(1635018061)')
    const found = await client.query('select from pg_database where datname = $1', [name])
    if (found.rowCount !== 0) return
    const building = `${name}_building`
    await client.query(`drop database if exists ${building} with (force)`)
    await client.query(`create database ${building} template template0`)
    const database = await openDatabase({
      databaseUrl: withDatabase(serverUrl, building),
      dataDirectory: '',
      poolSize: 1,
    })
    await database[Symbol.asyncDispose]()
    await client.query(`alter database ${building} rename to ${name}`)
  })
  return name
}

async function administer(serverUrl: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}
