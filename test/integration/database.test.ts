import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, migrationsDirectory, openDatabase } from '@atelier/server/database'
import { createDatabaseSite, describeOnEveryDatabase, openTestDatabase } from '@atelier/testkit'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { WorkspaceScope } from '../../packages/server/src/platform/identity/workspace-scope.ts'
import { grantWorkspaceScope } from '../../packages/server/src/platform/identity/workspace-scope.ts'
import { startDatabaseChild } from './database-child-process.ts'

interface Note {
  id: number
  workspace_id: string
  body: string
}

/** A table as a feature would make it, which only these tests know. */
async function createNotes(database: Database): Promise<Kysely<{ notes: Note }>> {
  await sql
    .raw(`create table notes (id int primary key, workspace_id text not null, body text not null);
      alter table notes enable row level security;
      create policy notes_of_workspace on notes to atelier_app
        using (workspace_id = (select current_workspace_id()));
      grant select, insert, update, delete on notes to atelier_app;
      create table secrets (id int primary key);
      insert into notes values (1, 'ws_a', 'of a'), (2, 'ws_b', 'of b')`)
    .execute(database.kysely)
  return database.kysely as unknown as Kysely<{ notes: Note }>
}

function scopeOf(workspaceId: string): WorkspaceScope {
  return grantWorkspaceScope({ workspaceId, userId: 'usr_test', role: 'owner' })
}

describeOnEveryDatabase('workspace isolation', (engine) => {
  let database: Database
  let notes: Kysely<{ notes: Note }>
  beforeAll(async () => {
    database = await openTestDatabase(engine)
    notes = await createNotes(database)
  })
  afterAll(() => database[Symbol.asyncDispose]())

  const bodies = (scope: WorkspaceScope) =>
    database.inWorkspace(scope, async (transaction) => {
      const { rows } = await sql<{ body: string }>`select body from notes order by id`.execute(transaction)
      return rows.map(({ body }) => body)
    })

  it('[DB2] a scope sees the rows of its workspace alone', async () => {
    expect(await bodies(scopeOf('ws_a'))).toEqual(['of a'])
    expect(await bodies(scopeOf('ws_b'))).toEqual(['of b'])
    expect(await bodies(scopeOf('ws_unknown'))).toEqual([])
  })

  it('[DB2] the role without a workspace sees nothing', async () => {
    const rows = await database.kysely.transaction().execute(async (transaction) => {
      await sql`set local role atelier_app`.execute(transaction)
      return (await sql`select * from notes`.execute(transaction)).rows
    })
    expect(rows).toEqual([])
    expect(await bodies(scopeOf(''))).toEqual([])
  })

  it('[DB3] a scope writes into its workspace alone', async () => {
    const insertForeign = database.inWorkspace(scopeOf('ws_a'), (transaction) =>
      sql`insert into notes values (3, 'ws_b', 'smuggled')`.execute(transaction),
    )
    await expect(insertForeign).rejects.toMatchObject({ code: '42501' })
    const changed = await database.inWorkspace(scopeOf('ws_a'), async (transaction) => {
      const update = await sql`update notes set body = 'mine' where id = 2`.execute(transaction)
      const removal = await sql`delete from notes where workspace_id = 'ws_b'`.execute(transaction)
      return [update.numAffectedRows, removal.numAffectedRows]
    })
    expect(changed).toEqual([0n, 0n])
    const move = database.inWorkspace(scopeOf('ws_a'), (transaction) =>
      sql`update notes set workspace_id = 'ws_b' where id = 1`.execute(transaction),
    )
    await expect(move).rejects.toMatchObject({ code: '42501' })
    expect(await notes.selectFrom('notes').select('body').orderBy('id').execute()).toEqual([
      { body: 'of a' },
      { body: 'of b' },
    ])
  })

  it('[DB3] a workspace id is a value, whatever it holds', async () => {
    expect(await bodies(scopeOf("ws_a' or 'a' = 'a"))).toEqual([])
  })

  it('[DB4] the next user of the connection is the system again', async () => {
    await bodies(scopeOf('ws_a'))
    await database
      .inWorkspace(scopeOf('ws_a'), () => Promise.reject(new Error('of the feature')))
      .catch(() => {})
    const { rows } =
      await sql`select current_user = session_user as system, current_workspace_id() as workspace
      `.execute(database.kysely)
    expect(rows).toEqual([{ system: true, workspace: null }])
  })

  it('[DB5] a table without a grant is closed to every scope', async () => {
    const read = database.inWorkspace(scopeOf('ws_a'), (transaction) =>
      sql`select * from secrets`.execute(transaction),
    )
    await expect(read).rejects.toMatchObject({ code: '42501' })
    const history = database.inWorkspace(scopeOf('ws_a'), (transaction) =>
      transaction.selectFrom('schema_migrations').selectAll().execute(),
    )
    await expect(history).rejects.toMatchObject({ code: '42501' })
  })
})

describeOnEveryDatabase('values', (engine) => {
  it('[DB1] a column gives the same JavaScript value on every engine', async () => {
    await using database = await openTestDatabase(engine)
    await sql
      .raw(`create table kinds (
        i8 int8, i8s int8[], i4 int4, f float8, n numeric, b bool, t text, ts text[], at timestamptz, local timestamp,
        day date, days date[], j jsonb, bytes bytea, v vector(2), missing text)`)
      .execute(database.kysely)
    const moment = new Date('2026-03-01T12:34:56.789Z')
    await sql`insert into kinds values (${2 ** 40}, ${[1, 2]}, ${7}, ${0.5}, ${'12.50'}, ${true}, ${'naïve “text”'},
      ${['a', 'b,c', '"d"']}, ${moment}, ${'2026-03-01 12:34:56.789'}, ${'2026-03-01'}, ${['2026-03-01']},
      ${JSON.stringify([{ deep: [1, null] }])}, ${Buffer.from([0, 255])}, ${'[1,-2.5]'}, ${null})`.execute(
      database.kysely,
    )
    const { rows } = await sql`select *, (select count(*) from kinds) as count from kinds`.execute(
      database.kysely,
    )
    expect(rows).toEqual([
      {
        i8: 2 ** 40,
        i8s: [1, 2],
        i4: 7,
        f: 0.5,
        n: '12.50',
        b: true,
        t: 'naïve “text”',
        ts: ['a', 'b,c', '"d"'],
        at: moment,
        local: moment,
        day: '2026-03-01',
        days: ['2026-03-01'],
        j: [{ deep: [1, null] }],
        bytes: Buffer.from([0, 255]),
        v: '[1,-2.5]',
        missing: null,
        count: 1,
      },
    ])
  })

  it('[DB1] an integer that a number cannot hold is a bigint', async () => {
    await using database = await openTestDatabase(engine)
    const { rows } = await sql`select 9007199254740993::int8 as large`.execute(database.kysely)
    expect(rows).toEqual([{ large: 9_007_199_254_740_993n }])
  })

  it('[DB1] changed rows are counted, and a large value survives', async () => {
    await using database = await openTestDatabase(engine)
    const notes = await createNotes(database)
    const large = 'x'.repeat(5_000_000)
    const result = await notes.updateTable('notes').set({ body: large }).executeTakeFirst()
    expect(result.numUpdatedRows).toBe(2n)
    const row = await notes.selectFrom('notes').select('body').where('id', '=', 1).executeTakeFirstOrThrow()
    expect(row.body === large).toBe(true)
  })
})

describeOnEveryDatabase('transactions', (engine) => {
  let database: Database
  let notes: Kysely<{ notes: Note }>
  beforeAll(async () => {
    database = await openTestDatabase(engine)
    notes = await createNotes(database)
  })
  afterAll(() => database[Symbol.asyncDispose]())
  const count = async () => (await notes.selectFrom('notes').select('id').execute()).length

  it('[DB6] a transaction that fails leaves nothing, and its own error comes out', async () => {
    const failing = notes.transaction().execute(async (transaction) => {
      await transaction.insertInto('notes').values({ id: 10, workspace_id: 'ws_a', body: 'x' }).execute()
      await sql`select 1 / 0`.execute(transaction)
    })
    await expect(failing).rejects.toMatchObject({ code: '22012' })
    expect(await count()).toBe(2)
  })

  it('[DB6] a savepoint undoes its part only', async () => {
    const transaction = await notes.startTransaction().execute()
    await transaction.insertInto('notes').values({ id: 11, workspace_id: 'ws_a', body: 'kept' }).execute()
    const after = await transaction.savepoint('part').execute()
    await after.deleteFrom('notes').execute()
    await after.rollbackToSavepoint('part').execute()
    await transaction.commit().execute()
    expect(await count()).toBe(3)
    await notes.deleteFrom('notes').where('id', '=', 11).execute()
  })

  it('[DB6] nobody sees a transaction before it commits', async () => {
    const inside = Promise.withResolvers<void>()
    const undone = notes.transaction().execute(async (transaction) => {
      await transaction.insertInto('notes').values({ id: 12, workspace_id: 'ws_a', body: 'x' }).execute()
      inside.resolve()
      await sql`select pg_sleep(0.05)`.execute(transaction)
      throw new Error('changed my mind')
    })
    await inside.promise
    const [seen] = await Promise.all([count(), expect(undone).rejects.toThrow('changed my mind')])
    expect(seen).toBe(2)
  })
})

describeOnEveryDatabase('waiting', (engine) => {
  let database: Database
  let notes: Kysely<{ notes: Note }>
  beforeAll(async () => {
    database = await openTestDatabase(engine, { acquireTimeoutMilliseconds: 300, poolSize: 1 })
    notes = await createNotes(database)
  })
  afterAll(() => database[Symbol.asyncDispose]())
  const count = async () => (await notes.selectFrom('notes').select('id').execute()).length

  it('[DB7] a query on the database inside its own transaction fails with words that say so', async () => {
    const nested = notes.transaction().execute(async () => {
      await notes.selectFrom('notes').selectAll().execute()
    })
    await expect(nested).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      cause: { message: expect.stringContaining('inside one of its own transactions') },
    })
    expect(await count()).toBe(2)
  })

  it('[DB7] whoever waits too long for a connection is told, and the next is served', async () => {
    const before = database.statistics().timeouts
    const holder = await notes.startTransaction().execute()
    const waiting = Promise.allSettled([count(), count()])
    await new Promise((resolve) => setImmediate(resolve))
    expect(database.statistics().waiting).toBe(2)
    const results = await waiting
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected'])
    expect(database.statistics().timeouts - before).toBe(2)
    await holder.rollback().execute()
    expect(await count()).toBe(2)
    expect(database.statistics()).toMatchObject({ max: 1, total: 1, idle: 1, waiting: 0 })
  })

  it('[DB18] statistics tell how long connections took', async () => {
    await count()
    const { acquire } = database.statistics()
    expect(acquire).toEqual({ p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) })
    expect(acquire?.p99).toBeGreaterThanOrEqual(acquire?.p50 ?? Number.POSITIVE_INFINITY)
  })

  it('[DB10] a ping is answered, or refused within its budget when no connection is free', async () => {
    await database.ping(1_000)
    const holder = await notes.startTransaction().execute()
    await expect(database.ping(50)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await holder.rollback().execute()
    await database.ping(1_000)
  })
})

describeOnEveryDatabase('limits', (engine) => {
  it('[DB8] a statement that runs too long is stopped, and the database goes on', async () => {
    await using database = await openTestDatabase(engine, { poolSize: 1 })
    const notes = await createNotes(database)
    const endless = database.withStatementTimeout(300, async (connection) => {
      await connection.transaction().execute(async (transaction) => {
        await sql`delete from notes`.execute(transaction)
        await sql`select count(*) from generate_series(1, 100000000000) n`.execute(transaction)
      })
    })
    await expect(endless).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect((await notes.selectFrom('notes').select('id').execute()).length).toBe(2)
  })

  it('[DB9] long work has a limit of its own, and the others keep theirs', async () => {
    await using database = await openTestDatabase(engine, {
      statementTimeoutMilliseconds: 1_000,
      poolSize: 1,
    })
    const slept = await database.withStatementTimeout(20_000, async (connection) => {
      return (await sql`select pg_sleep(1.5)::text as done`.execute(connection)).rows
    })
    expect(slept).toEqual([{ done: '' }])
    await expect(sql`select pg_sleep(20)`.execute(database.kysely)).rejects.toMatchObject({ code: 'TIMEOUT' })
  })

  it('[DB19] a connection that is held without being used is taken away', async () => {
    await using database = await openTestDatabase(engine, { idleLimitMilliseconds: 150, poolSize: 1 })
    const notes = await createNotes(database)
    const forgotten = await notes.startTransaction().execute()
    await forgotten.deleteFrom('notes').execute()
    await expect.poll(() => database.statistics().errors).toBe(1)
    await expect(forgotten.commit().execute()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect((await notes.selectFrom('notes').select('id').execute()).length).toBe(2)
  })
})

describeOnEveryDatabase('migrations', (engine) => {
  it('[DB11] running them twice changes nothing', async () => {
    await using site = await createDatabaseSite(engine, 'unmigrated')
    const history = async () => {
      await using database = await openDatabase(site.place)
      expect(await database.migrationsCurrent()).toBe(true)
      return await database.kysely.selectFrom('schema_migrations').selectAll().execute()
    }
    const first = await history()
    expect(first.length).toBeGreaterThan(0)
    expect(await history()).toEqual(first)
  })

  // The embedded engine has one process.
  if (engine === 'postgres') {
    it('[DB12] nodes that start at once on an empty database apply each migration once', async () => {
      await using site = await createDatabaseSite(engine, 'unmigrated')
      const nodes = await Promise.all(
        Array.from({ length: 4 }, () => openDatabase({ ...site.place, poolSize: 1 })),
      )
      expect(await Promise.all(nodes.map((node) => node.migrationsCurrent()))).toEqual(nodes.map(() => true))
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()))
    })
  }

  it('[DB14] an older version refuses a newer schema and names what it does not know', async () => {
    await using site = await createDatabaseSite(engine)
    await using folder = await copyMigrations({ '9000-later.sql': 'create table later (id int)' })
    await (await openDatabase({ ...site.place, migrationsDirectory: folder.path }))[Symbol.asyncDispose]()
    await expect(openDatabase(site.place)).rejects.toThrow(/newer version, which has 9000-later/)
  })

  it('[DB15] a migration that changed after it was applied is refused', async () => {
    await using site = await createDatabaseSite(engine)
    await using folder = await copyMigrations({ '9000-later.sql': 'create table later (id int)' })
    const open = () => openDatabase({ ...site.place, migrationsDirectory: folder.path })
    await (await open())[Symbol.asyncDispose]()
    await writeFile(join(folder.path, '9000-later.sql'), 'create table later (id text)')
    await expect(open()).rejects.toThrow(/9000-later has changed/)
    await writeFile(join(folder.path, '9000-later.sql'), 'create table later (id int)')
    await (await open())[Symbol.asyncDispose]()
  })

  it('[DB16] a migration with a number before the last applied one is refused', async () => {
    await using site = await createDatabaseSite(engine)
    await using folder = await copyMigrations({ '9000-later.sql': 'select 1' })
    const open = () => openDatabase({ ...site.place, migrationsDirectory: folder.path })
    await (await open())[Symbol.asyncDispose]()
    await writeFile(join(folder.path, '8000-forgotten.sql'), 'select 1')
    await expect(open()).rejects.toThrow(/8000-forgotten comes before 9000-later/)
  })

  it('[DB17] a migration that fails leaves nothing of itself, and works once corrected', async () => {
    await using site = await createDatabaseSite(engine)
    await using folder = await copyMigrations({
      '9000-good.sql': 'create table good (id int)',
      '9001-bad.sql': 'create table half (id int); insert into nowhere values (1)',
    })
    const open = () => openDatabase({ ...site.place, migrationsDirectory: folder.path })
    await expect(open()).rejects.toThrow(/9001-bad failed/)
    await writeFile(join(folder.path, '9001-bad.sql'), 'create table half (id int)')
    await using database = await open()
    expect(await database.migrationsCurrent()).toBe(true)
    expect((await sql`select * from half`.execute(database.kysely)).rows).toEqual([])
  })

  it('[DB13] a process killed while migrating leaves a database that the next one finishes', async () => {
    await using site = await createDatabaseSite(engine)
    await using slow = await copyMigrations({
      '9000-first.sql': 'create table first (id int)',
      '9001-second.sql': 'create table second (id int); select pg_sleep(1)',
    })
    const child = startDatabaseChild('open', { ...site.place, migrationsDirectory: slow.path })
    await child.said('migrated 9000-first')
    await child.kill()
    await using database = await openDatabase({ ...site.place, migrationsDirectory: slow.path })
    expect(await database.migrationsCurrent()).toBe(true)
    expect((await sql`select * from first, second`.execute(database.kysely)).rows).toEqual([])
  })
})

/** This build's migrations and more, in a folder of their own. */
async function copyMigrations(more: Record<string, string>): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'atelier-migrations-'))
  await cp(migrationsDirectory, path, { recursive: true })
  for (const [name, content] of Object.entries(more)) await writeFile(join(path, name), content)
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
