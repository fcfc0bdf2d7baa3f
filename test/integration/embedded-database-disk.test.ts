import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase } from '@atelier/server/database'
import { templateDirectory } from '@atelier/testkit'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'

const megabyte = 1_048_576

/** A file system of its own in memory; gone when disposed of. */
function mountDisk(megabytes: number): { path: string; mount(options: string): void } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'atelier-disk-'))
  const mount = (options: string) => execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path])
  mount(`size=${megabytes}m`)
  return {
    path,
    mount,
    [Symbol.dispose]: () => {
      execFileSync('umount', ['-l', path])
      rmSync(path, { recursive: true })
    },
  }
}

/** Why this machine cannot mount one. */
function mountProblem(): string | undefined {
  try {
    mountDisk(1)[Symbol.dispose]()
    return undefined
  } catch {
    return 'only root may mount'
  }
}

const problem = process.platform === 'linux' ? mountProblem() : 'only Linux has tmpfs'

describe.skipIf(problem)(problem ? `a small disk (skipped: ${problem})` : 'a small disk', () => {
  const insert = (database: Database, id: number) =>
    sql`insert into acknowledged select ${id}, string_agg(random()::text, '') from generate_series(1, 400)`.execute(
      database.kysely,
    )

  it('[DB33] a disk that fills up costs no acknowledged row, and with room again the database goes on', async () => {
    using disk = mountDisk(72)
    const dataDirectory = join(disk.path, 'database')
    await using database = await openDatabase({ dataDirectory, templateDirectory })
    await sql`create table acknowledged (id int primary key, filler text)`.execute(database.kysely)
    const filler = join(disk.path, 'filler')
    const { bavail, bsize } = statfsSync(disk.path)
    writeFileSync(filler, Buffer.alloc(bavail * bsize - megabyte, 1))
    const acknowledged: number[] = []
    const fill = async () => {
      for (let id = 1; id <= 5_000; id += 1) {
        await insert(database, id)
        acknowledged.push(id)
      }
    }
    await expect(fill()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    rmSync(filler)
    await expect
      .poll(() => insert(database, 10_000).then(() => 'works', String), { timeout: 20_000 })
      .toBe('works')
    const { rows } = await sql<{ id: number }>`select id from acknowledged`.execute(database.kysely)
    const kept = new Set(rows.map(({ id }) => id))
    expect(acknowledged.length).toBeGreaterThan(10)
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([])
  })

  it('[DB24] a disk without room for a database says how much it has', async () => {
    using disk = mountDisk(20)
    await expect(
      openDatabase({ dataDirectory: join(disk.path, 'database'), templateDirectory }),
    ).rejects.toThrow(/the disk has \d+ MB left, a new database takes \d+/)
  })

  it('[DB24] a read-only disk is refused', async () => {
    using disk = mountDisk(80)
    const dataDirectory = join(disk.path, 'database')
    await (await openDatabase({ dataDirectory, templateDirectory }))[Symbol.asyncDispose]()
    disk.mount('remount,ro')
    await expect(openDatabase({ dataDirectory })).rejects.toThrow(/cannot be written/)
    disk.mount('remount,rw')
    await using database = await openDatabase({ dataDirectory })
    await database.ping(1_000)
  })
})
