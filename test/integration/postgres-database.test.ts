import { type Database, openDatabase } from '@atelier/server/database'
import { databaseEngines, type PostgresServer, startPostgresServer } from '@atelier/testkit'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { grantWorkspaceScope } from '../../packages/server/src/platform/identity/workspace-scope.ts'
import { startFaultProxy } from './fault-proxy.ts'

const unavailable = databaseEngines().find(({ engine }) => engine === 'postgres')?.unavailable
const title = unavailable ? `a PostgreSQL server (skipped: ${unavailable})` : 'a PostgreSQL server'

describe.skipIf(unavailable)(title, () => {
  let server: PostgresServer
  let databaseUrl: string
  beforeAll(async () => {
    const started = await startPostgresServer()
    if ('unavailable' in started) throw new Error(started.unavailable)
    server = started
    databaseUrl = started.url
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const open = (url = databaseUrl, more = {}) =>
    openDatabase({ databaseUrl: url, dataDirectory: '', ...more })
  const answer = async (database: Database) => (await sql`select 1 as one`.execute(database.kysely)).rows

  it.each(['stop', 'crash'] as const)(
    '[DB30] the process outlives a %s of the server and recovers by itself',
    async (how) => {
      await using database = await open()
      await answer(database)
      const running = sql`select pg_sleep(20)`.execute(database.kysely)
      const broken = expect(running).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
      await expect.poll(() => database.statistics().total - database.statistics().idle).toBe(1)
      await server[how]()
      await broken
      await expect(answer(database)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
      await expect(database.ping(1_000)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
      await expect(database.inWorkspace({} as never, async () => {})).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
      })
      await server.start()
      expect(await answer(database)).toEqual([{ one: 1 }])
      expect(database.statistics().errors).toBeGreaterThan(0)
    },
  )

  it('[DB31] a server that starts later than we do is waited for', async () => {
    await server.stop()
    const opening = open()
    await new Promise((resolve) => setTimeout(resolve, 700))
    await server.start()
    await using database = await opening
    expect(await answer(database)).toEqual([{ one: 1 }])
  })

  it('[DB31] what waiting cannot mend is told at once', async () => {
    const url = new URL(databaseUrl)
    url.username = 'nobody'
    await expect(open(url.href)).rejects.toThrow('role "nobody" does not exist')
  })

  it('[DB34] a login without special rights owns the database once an administrator has prepared it', async () => {
    const inDatabase = (name: string, user: string) => {
      const url = new URL(databaseUrl)
      url.pathname = `/${name}`
      url.username = user
      return url.href
    }
    await runAsAdministrator(databaseUrl, ['create role plain login', 'create database prepared owner plain'])
    await expect(open(inDatabase('prepared', 'plain'))).rejects.toMatchObject({
      name: 'MigrationError',
      cause: { message: expect.stringContaining('permission denied') },
    })
    await runAsAdministrator(inDatabase('prepared', 'postgres'), [
      'create extension vector',
      `do $$ begin create role atelier_app nologin; exception when duplicate_object then null; end $$`,
      'grant atelier_app to plain',
    ])
    await using database = await open(inDatabase('prepared', 'plain'))
    expect(await database.migrationsCurrent()).toBe(true)
    const scope = grantWorkspaceScope({ workspaceId: 'ws_a', userId: null, role: 'owner' })
    const role = await database.inWorkspace(scope, async (transaction) => {
      return (await sql`select current_user as role`.execute(transaction)).rows
    })
    expect(role).toEqual([{ role: 'atelier_app' }])
  })

  it('[DB32] a server that falls silent costs its callers a bounded time, and no connection for good', async () => {
    await using proxy = await startFaultProxy(new URL(databaseUrl))
    await using database = await open(proxy.url, {
      poolSize: 2,
      statementTimeoutMilliseconds: 100,
      statementGraceMilliseconds: 300,
      acquireTimeoutMilliseconds: 500,
    })
    await Promise.all([answer(database), answer(database)])
    proxy.silence(true)
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => answer(database)))
    expect(results.map((result) => result.status === 'rejected' && result.reason.code)).toEqual(
      Array(6).fill('SERVICE_UNAVAILABLE'),
    )
    proxy.silence(false)
    await expect.poll(() => answer(database)).toEqual([{ one: 1 }])
    await expect.poll(() => database.statistics()).toMatchObject({ waiting: 0, max: 2 })
  })

  it('[DB32] a connection that is reset breaks one statement only', async () => {
    await using proxy = await startFaultProxy(new URL(databaseUrl))
    await using database = await open(proxy.url, { poolSize: 1 })
    const running = sql`select pg_sleep(20)`.execute(database.kysely)
    const broken = expect(running).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await expect.poll(() => database.statistics().idle).toBe(0)
    proxy.reset()
    await broken
    expect(await answer(database)).toEqual([{ one: 1 }])
  })
})

async function runAsAdministrator(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}
