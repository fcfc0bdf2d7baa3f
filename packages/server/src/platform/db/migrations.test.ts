import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { migrationsDigest, migrationsDirectory, readMigrations } from './migrations.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atelier-migrations-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))
const put = (name: string, sql: string) => writeFile(join(folder, name), sql)

it('[DB11] migrations come in the order of their numbers', async () => {
  await put('0002-b.sql', 'select 2')
  await put('0001-a.sql', 'select 1')
  await put('notes.md', 'not a migration')
  expect((await readMigrations(folder)).map(({ name, sql }) => [name, sql])).toEqual([
    ['0001-a', 'select 1'],
    ['0002-b', 'select 2'],
  ])
})

it('[DB15] the line ends of a checkout do not change a migration, anything else does', async () => {
  const digestOf = async (sql: string) => {
    await put('0001-a.sql', sql)
    return migrationsDigest(await readMigrations(folder))
  }
  const digest = await digestOf('select 1;\nselect 2;\n')
  expect(await digestOf('select 1;\r\nselect 2;\r\n')).toBe(digest)
  expect(await digestOf('select 1;\nselect 3;\n')).not.toBe(digest)
})

it('[DB16] a number that is used twice, or a name without one, is refused', async () => {
  await put('0001-a.sql', 'select 1')
  await put('0001-b.sql', 'select 1')
  await expect(readMigrations(folder)).rejects.toThrow('number 0001 is used twice')
  await rm(join(folder, '0001-b.sql'))
  await put('latest.sql', 'select 1')
  await expect(readMigrations(folder)).rejects.toThrow('latest.sql must be named')
})

it.each(['commit;', 'begin;\nselect 1;', 'ROLLBACK ;', 'begin transaction;'])(
  '[DB17] a migration cannot end its transaction: %j',
  async (sql) => {
    await put('0001-a.sql', `select 1;\n${sql}`)
    await expect(readMigrations(folder)).rejects.toThrow('must not control transactions')
  },
)

it('[DB17] the body of a function may begin and end', async () => {
  await put('0001-a.sql', 'do $$\nbegin\n  perform 1;\nend\n$$;')
  expect(await readMigrations(folder)).toHaveLength(1)
})

it('[DB11] the migrations of this build can be read', async () => {
  expect((await readMigrations(migrationsDirectory))[0]?.name).toBe('0001-foundation')
})
