import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadNodeId } from './node-id.ts'

it('[JOB11] a data directory has one id, whoever asks and however many at once', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'atelier-node-'))
  const ids = await Promise.all(Array.from({ length: 8 }, () => loadNodeId(directory)))
  expect(new Set(ids).size).toBe(1)
  expect(await loadNodeId(directory)).toBe(ids[0])
  expect(await readdir(directory)).toEqual(['node-id'])
  const other = await mkdtemp(join(tmpdir(), 'atelier-node-'))
  expect(await loadNodeId(other)).not.toBe(ids[0])
  await Promise.all([directory, other].map((path) => rm(path, { recursive: true })))
})
