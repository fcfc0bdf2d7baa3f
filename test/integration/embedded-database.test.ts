import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, openDatabase } from '@atelier/server/database'
import { createDatabaseSite, type DatabaseSite, openTestDatabase, templateDirectory } from '@atelier/testkit'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { vacuumChangedTables } from '../../packages/server/src/platform/db/pglite-maintenance.ts'
import { startDatabaseChild } from './database-child-process.ts'
import { runUntilPowerCut } from './power-cut.ts'

/** Opens, lets `work` use the database, and closes it. */
async function use<T>(site: DatabaseSite, work: (database: Database) => Promise<T>): Promise<T> {
  await using database = await openDatabase(site.place)
  return await work(database)
}

async function acknowledgedIds(database: Database): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select id from acknowledged order by id`.execute(database.kysely)
  return rows.map(({ id }) => id)
}

describe('the directory of the embedded database', () => {
  it('[DB20] a second process refuses to start and names the first', async () => {
    await using site = await createDatabaseSite('pglite')
    const first = startDatabaseChild('hold', site.place)
    await first.said('opened')
    await expect(openDatabase(site.place)).rejects.toThrow(`in use by process ${first.pid}`)
    await first.kill()
    await use(site, (database) => database.ping(1_000))
  })

  it('[DB20] one process cannot open it twice', async () => {
    await using site = await createDatabaseSite('pglite')
    await use(site, async () => {
      await expect(openDatabase(site.place)).rejects.toThrow(`in use by process ${process.pid}`)
    })
    await use(site, (database) => database.ping(1_000))
  })

  it('[DB22] kill -9 while writing loses no acknowledged row', async () => {
    await using site = await createDatabaseSite('pglite')
    for (let round = 1; round <= 3; round += 1) {
      const child = startDatabaseChild('insert', site.place)
      await child.said('opened')
      await expect
        .poll(() => child.lines.filter((line) => line.startsWith('inserted')).length, { timeout: 20_000 })
        .toBeGreaterThan(100 * round)
      await child.kill()
      const told = child.lines
        .filter((line) => line.startsWith('inserted'))
        .map((line) => Number(line.slice(9)))
      const kept = new Set(await use(site, acknowledgedIds))
      expect(told.filter((id) => !kept.has(id))).toEqual([])
    }
  })

  it('[DB23] a power cut while writing loses no acknowledged row', async () => {
    await using site = await createDatabaseSite('pglite')
    await use(site, () => Promise.resolve())
    const acknowledged = await runUntilPowerCut(join(site.place.dataDirectory, 'cluster'))
    expect(acknowledged.length).toBeGreaterThan(100)
    expect(await use(site, acknowledgedIds)).toEqual(acknowledged)
  })

  it.each<[string, (cluster: string) => void, RegExp]>([
    ['its cluster is gone', (cluster) => rmSync(cluster, { recursive: true }), /is gone\. Restore/],
    ['a part is missing', (cluster) => rmSync(join(cluster, 'PG_VERSION')), /is incomplete/],
    [
      'it is of another version',
      (cluster) => writeFileSync(join(cluster, 'PG_VERSION'), '17\n'),
      /PostgreSQL 17/,
    ],
    [
      'its control file is torn',
      (cluster) => truncateSync(join(cluster, 'global/pg_control'), 100),
      /is damaged/,
    ],
    ['its log is gone', (cluster) => rmSync(join(cluster, 'pg_wal'), { recursive: true }), /is damaged/],
    ['a catalogue is torn', tearCatalogue, /is damaged/],
  ])('[DB24] when %s, it is refused and left as it is', async (_, damage, message) => {
    await using site = await createDatabaseSite('pglite')
    await use(site, () => Promise.resolve())
    damage(join(site.place.dataDirectory, 'cluster'))
    await expect(openDatabase(site.place)).rejects.toThrow(message)
    await expect(openDatabase(site.place)).rejects.toThrow(message)
  })

  it('[DB24] a start that was interrupted leaves no half of a database', async () => {
    await using site = await createDatabaseSite('pglite', 'nothing')
    const { dataDirectory } = site.place
    const place = { ...site.place, templateDirectory }
    const child = startDatabaseChild('open', place)
    await expect.poll(() => child.lines.length > 0 || isCopying(dataDirectory), { interval: 1 }).toBe(true)
    await child.kill()
    await using database = await openDatabase(place)
    expect(await database.migrationsCurrent()).toBe(true)
    expect(isCopying(dataDirectory)).toBe(false)
  })

  it('[DB25] a copy of a closed directory is a backup', async () => {
    await using site = await createDatabaseSite('pglite')
    await use(site, (database) => sql`create table kept (id int)`.execute(database.kysely))
    await using copy = await createDatabaseSite('pglite', 'nothing')
    cpSync(site.place.dataDirectory, copy.place.dataDirectory, { recursive: true })
    await use(copy, async (database) => {
      expect((await sql`select * from kept`.execute(database.kysely)).rows).toEqual([])
    })
  })
})

describe('the engine in its thread', () => {
  it('[DB26] a long statement does not hold the server up', async () => {
    await using database = await openTestDatabase('pglite')
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 5)
    await sql`select pg_sleep(0.5)`.execute(database.kysely)
    clearInterval(timer)
    expect(turns).toBeGreaterThan(10)
  })

  it('[DB26] memory, settings and statements of a broken connection do not reach the next', async () => {
    await using database = await openTestDatabase('pglite', { idleLimitMilliseconds: 100 })
    const lost = await database.kysely.startTransaction().execute()
    await sql`set session statement_timeout = 1234; create temporary table scratch (id int); set role atelier_app`.execute(
      lost,
    )
    await expect.poll(() => database.statistics().errors).toBe(1)
    const { rows } =
      await sql`select current_setting('statement_timeout') as timeout, to_regclass('scratch') as scratch,
      current_user = session_user as system`.execute(database.kysely)
    expect(rows).toEqual([{ timeout: '0', scratch: null, system: true }])
  })

  it('[DB27] closing waits for what is running', async () => {
    await using site = await createDatabaseSite('pglite')
    const database = await openDatabase(site.place)
    await sql`create table kept (id int)`.execute(database.kysely)
    const inside = Promise.withResolvers<void>()
    const writing = database.kysely.transaction().execute(async (transaction) => {
      inside.resolve()
      await sql`insert into kept select 1 from pg_sleep(0.3)`.execute(transaction)
    })
    await inside.promise
    const closing = database[Symbol.asyncDispose]()
    await writing
    await closing
    await use(site, async (again) => {
      expect((await sql`select * from kept`.execute(again.kysely)).rows).toEqual([{ id: 1 }])
    })
    await expect(sql`select 1`.execute(database.kysely)).rejects.toThrow()
  })

  it('[DB27] closing breaks a transaction that nobody finishes', async () => {
    await using site = await createDatabaseSite('pglite')
    const database = await openDatabase(site.place)
    const forgotten = await database.kysely.startTransaction().execute()
    await sql`create table lost (id int)`.execute(forgotten)
    await database[Symbol.asyncDispose]()
    await expect(forgotten.commit().execute()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await use(site, async (again) => {
      expect((await sql`select to_regclass('lost') as lost`.execute(again.kysely)).rows).toEqual([
        { lost: null },
      ])
    })
  })

  it('[DB28] tables that change are vacuumed and analysed', async () => {
    await using database = await openTestDatabase('pglite')
    await sql
      .raw(`create table "Busy" (id int); insert into "Busy" select generate_series(1, 1000);
        delete from "Busy" where id > 100`)
      .execute(database.kysely)
    const state = async () => {
      const { rows } = await sql<{ dead: number; estimate: number }>`
        select n_dead_tup as dead, reltuples as estimate from pg_stat_user_tables s
        join pg_class c on c.oid = s.relid where s.relname = 'Busy'`.execute(database.kysely)
      return rows[0]
    }
    // The engine counts changes once a second at most.
    await expect.poll(async () => (await state())?.dead).toBe(900)
    await database.withStatementTimeout(10_000, vacuumChangedTables)
    expect(await state()).toEqual({ dead: 0, estimate: 100 })
  })
})

function isCopying(dataDirectory: string): boolean {
  return (
    existsSync(dataDirectory) && readdirSync(dataDirectory).some((name) => name.startsWith('unfinished-'))
  )
}

/** The first page of `pg_class`, which every start reads. */
function tearCatalogue(cluster: string): void {
  const file = join(cluster, 'base/5/1259')
  writeFileSync(file, readFileSync(file).fill(0xff, 0, 8192))
}
