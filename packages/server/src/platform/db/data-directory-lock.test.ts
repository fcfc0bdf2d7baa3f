import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { lockDataDirectory } from './data-directory-lock.ts'
import { identifyOwnProcess, isRunning } from './process-identity.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atelier-lock-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const lock = (silenceMilliseconds = 50) =>
  lockDataDirectory({ directory, silenceMilliseconds, onLost: () => {} })
const lockFile = (number: number) => join(directory, `lock-${number}.json`)

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid ?? 0
}

it('[DB20] whoever is second is refused, until the first lets go', async () => {
  const first = await lock()
  await expect(lock()).rejects.toThrow(`in use by process ${process.pid}`)
  await first[Symbol.asyncDispose]()
  await using _second = await lock()
  expect(await readdir(directory)).toEqual(['lock-2.json'])
})

it('[DB21] the lock of a process that is gone is taken over', async () => {
  const self = await identifyOwnProcess()
  await writeFile(lockFile(7), JSON.stringify({ ...self, pid: await deadPid() }))
  await using _lock = await lock()
  expect(await readdir(directory)).toEqual(['lock-8.json'])
})

it('[DB21] a pid that another process has got since does not count', async () => {
  const self = await identifyOwnProcess()
  expect(await isRunning(self)).toBe(true)
  expect(await isRunning({ ...self, startedAt: '1' })).toBe(false)
  await writeFile(lockFile(1), JSON.stringify({ ...self, startedAt: '1' }))
  await using _lock = await lock()
})

it('[DB21] a lock from another container counts while it is refreshed', async () => {
  const elsewhere = JSON.stringify({ pid: 1, startedAt: '1', namespace: 'elsewhere' })
  await writeFile(lockFile(1), elsewhere)
  let beat = 0
  const timer = setInterval(() => {
    beat += 1
    void utimes(lockFile(1), beat, beat)
  }, 10)
  await expect(lock(500)).rejects.toThrow('process 1 of another container or machine')
  clearInterval(timer)
  await using _lock = await lock()
})

it('[DB21] a lock whose writing was cut off is taken over', async () => {
  await writeFile(lockFile(1), '')
  await using _lock = await lock()
})

it('[DB21] of many starters that find a stale lock, one wins', async () => {
  const self = await identifyOwnProcess()
  await writeFile(lockFile(1), JSON.stringify({ ...self, pid: await deadPid() }))
  const script = `
    const { lockDataDirectory } = await import(${JSON.stringify(join(import.meta.dirname, 'data-directory-lock.ts'))})
    try {
      await lockDataDirectory({ directory: process.argv[1], onLost() {} })
      console.log('held')
      await new Promise((resolve) => process.stdin.once('end', resolve).resume())
    } catch (error) {
      console.log(error.name)
    }`
  const starters = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', script, directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  )
  const exits = starters.map((starter) => once(starter, 'exit'))
  const said = await Promise.all(
    starters.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]).trim()),
  )
  for (const { stdin } of starters) stdin.end()
  await Promise.all(exits)
  expect(said.sort()).toEqual([...Array<string>(5).fill('DataDirectoryError'), 'held'])
})

it('[DB21] a holder whose lock was taken learns it and leaves the new one alone', async () => {
  const lost = Promise.withResolvers<Error>()
  const first = await lockDataDirectory({ directory, onLost: lost.resolve })
  const other = JSON.stringify({ pid: 1, startedAt: '1', namespace: 'elsewhere' })
  await writeFile(lockFile(2), other)
  expect((await lost.promise).message).toContain('taken over')
  await first[Symbol.asyncDispose]()
  expect(await readFile(lockFile(2), 'utf8')).toBe(other)
})

it('[DB24] a directory that cannot be written is an error, not a lock', async () => {
  await expect(
    lockDataDirectory({ directory: join(directory, 'missing'), onLost: () => {} }),
  ).rejects.toMatchObject({ code: 'ENOENT' })
})
