import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defaultArchiveLimits } from './archive-entry.ts'
import { packTarGz } from './pack-tar.ts'
import { readArchive } from './read-archive.ts'

async function* given(...files: { path: string; bytes: Uint8Array; executable?: boolean }[]) {
  yield* files
}

it('[FILE25] what is packed is read back: names, contents, empty folders and what may be run', async () => {
  const long = `${'folder-with-a-name/'.repeat(12)}file`
  const big = Buffer.alloc(3_000_000, 'text ')
  const files = given(
    { path: 'a', bytes: Buffer.from('') },
    { path: 'run', bytes: Buffer.from('#!'), executable: true },
    { path: long, bytes: big },
  )
  const packed = Buffer.concat(await Array.fromAsync(packTarGz({ files, directories: ['empty', 'x/y'] })))
  const directory = await mkdtemp(join(tmpdir(), 'atelier-pack-'))
  try {
    const path = join(directory, 'p.tgz')
    await writeFile(path, packed)
    const seen: unknown[] = []
    for await (const entry of readArchive('tar.gz', { path, limits: defaultArchiveLimits })) {
      if (entry.kind !== 'file') seen.push([entry.kind, entry.name])
      else
        seen.push([
          entry.name,
          entry.executable,
          Buffer.from(await entry.read()).equals(big) ? 'big' : entry.bytes,
        ])
    }
    expect(seen).toEqual([
      ['directory', 'empty/'],
      ['directory', 'x/y/'],
      ['a', false, 0],
      ['run', true, 2],
      [long, false, 'big'],
    ])
  } finally {
    await rm(directory, { recursive: true })
  }
})

it('[FILE25] a source that fails fails the packing', async () => {
  async function* failing() {
    yield { path: 'a', bytes: Buffer.from('a') }
    throw new Error('the checksum is wrong')
  }
  await expect(Array.fromAsync(packTarGz({ files: failing(), directories: [] }))).rejects.toThrow(
    'the checksum is wrong',
  )
})

it('[FILE25] whoever stops reading stops the source', async () => {
  let ended = false
  async function* endless() {
    try {
      for (let at = 0; ; at += 1) yield { path: `f${at}`, bytes: Buffer.alloc(100_000, `${at}`) }
    } finally {
      ended = true
    }
  }
  for await (const _ of packTarGz({ files: endless(), directories: [] })) break
  await expect.poll(() => ended).toBe(true)
})
