import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type TarEntry, tarGzOf, tarOf, type ZipEntry, zipOf } from '@atelier/testkit/archives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ArchiveLimits, defaultArchiveLimits } from './archive-entry.ts'
import { detectArchive } from './detect-archive.ts'
import { readArchive } from './read-archive.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atelier-archive-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

let files = 0
async function place(bytes: Uint8Array): Promise<string> {
  files += 1
  const path = join(directory, String(files))
  await writeFile(path, bytes)
  return path
}

/** What a reader finds: `name`, and the content, `null` for a folder, or the reason for what it leaves out. */
async function contentOf(bytes: Uint8Array, limits: ArchiveLimits = defaultArchiveLimits) {
  const path = await place(bytes)
  const detected = await detectArchive(path, 'unnamed')
  if (detected.kind !== 'archive') throw new Error(`detected as ${detected.kind}`)
  const found: [string, string | null | { reason: string }][] = []
  for await (const entry of readArchive(detected.format, { path, limits })) {
    if (entry.kind === 'file') found.push([entry.name, Buffer.from(await entry.read()).toString()])
    else found.push([entry.name, entry.kind === 'directory' ? null : { reason: entry.reason }])
  }
  return found
}

const tarEntries: TarEntry[] = [
  { name: 'p/', type: 'directory' },
  { name: 'p/a.ts', content: 'let a' },
  { name: 'p/leer.txt', content: '' },
  { name: 'p/Größe.md', content: '# Größe' },
]
const zipEntries: ZipEntry[] = [
  { name: 'p/', mode: 0o040755, method: 0 },
  { name: 'p/a.ts', content: 'let a' },
  { name: 'p/leer.txt', content: '', method: 0 },
  { name: 'p/Größe.md', content: '# Größe', method: 0 },
]
const expected = [
  ['p/', null],
  ['p/a.ts', 'let a'],
  ['p/leer.txt', ''],
  ['p/Größe.md', '# Größe'],
]

describe('archives of every format', () => {
  it.each([
    ['zip', async () => zipOf(zipEntries)],
    ['tar', () => tarOf(tarEntries)],
    ['tar.gz', () => tarGzOf(tarEntries)],
  ])('[IMP1] %s is recognised by its bytes and read whole', async (_format, make) => {
    const bytes = await make()
    expect(await contentOf(bytes)).toEqual(expected)
  })

  it('[IMP1] what is no archive is told apart, and a name alone makes none', async () => {
    const detect = async (bytes: string | Uint8Array, name: string) =>
      detectArchive(await place(Buffer.from(bytes)), name)
    expect(await detect('hello', 'a.ts')).toEqual({ kind: 'ordinary' })
    expect(await detect('hello', 'a.zip')).toEqual({ kind: 'broken' })
    expect(await detect('', 'a.tar.gz')).toEqual({ kind: 'broken' })
    expect(await detect(Buffer.alloc(2048), 'a.bin')).toEqual({ kind: 'ordinary' })
    expect(await detect(Buffer.alloc(2048), 'a.tar')).toEqual({ kind: 'archive', format: 'tar' })
    expect(await detect(gzipSync('no tar'), 'a.gz')).toMatchObject({ kind: 'unsupported' })
    expect(await detect(Buffer.from('\x1f\x8bnonsense', 'latin1'), 'a.gz')).toEqual({ kind: 'broken' })
    expect(await detect(Buffer.from('377abcaf271c', 'hex'), 'a')).toEqual({
      kind: 'unsupported',
      format: '7-Zip',
    })
    expect(await detect(Buffer.from('fd377a585a00', 'hex'), 'a')).toEqual({
      kind: 'unsupported',
      format: 'xz',
    })
    expect(await detect(zipOf(zipEntries), 'picture.png')).toEqual({ kind: 'archive', format: 'zip' })
  })

  it('[IMP4] links, devices and the like are left out with the reason', async () => {
    const tar = await tarOf([
      { name: 'link', type: 'symlink', linkname: '/etc/passwd' },
      { name: 'hard', type: 'link', linkname: '/etc/passwd' },
      { name: 'null', type: 'character-device', devmajor: 1, devminor: 3 },
      { name: 'pipe', type: 'fifo' },
      { name: 'sparse', content: 'x', pax: { 'GNU.sparse.major': '1' } },
      { name: 'a', content: 'a' },
    ])
    expect(await contentOf(tar)).toEqual([
      ['link', { reason: 'is a symbolic link' }],
      ['hard', { reason: 'is a hard link' }],
      ['null', { reason: 'is a device' }],
      ['pipe', { reason: 'is a named pipe' }],
      ['sparse', { reason: 'is a sparse file' }],
      ['a', 'a'],
    ])
    const zip = zipOf([
      { name: 'link', content: '/etc/passwd', mode: 0o120777 },
      { name: 'device', mode: 0o020666 },
      { name: 'secret', content: 'x', flags: 0x801 },
      { name: 'lzma', content: 'x', method: 14 },
      { name: 'a', content: 'a', mode: 0 },
    ])
    expect(await contentOf(zip)).toEqual([
      ['link', { reason: 'is a symbolic link' }],
      ['device', { reason: 'is a device' }],
      ['secret', { reason: 'is encrypted' }],
      ['lzma', { reason: expect.stringContaining('method 14') }],
      ['a', 'a'],
    ])
  })

  it('[IMP4] a backslash in a zip is a separator, as the tools that write it mean', async () => {
    expect(await contentOf(zipOf([{ name: 'src\\a.ts', content: 'a' }]))).toEqual([['src/a.ts', 'a']])
  })

  it('[IMP4] a name that is not UTF-8 shows it', async () => {
    const zip = zipOf([{ name: Buffer.from('gr\xfc\xdfe', 'latin1'), content: 'a', flags: 0 }])
    expect(await contentOf(zip)).toEqual([['gr\uFFFD\uFFFDe', 'a']])
  })
})

describe('damaged archives', () => {
  const noise = Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7919 + (at >> 3) * 31) % 256))

  it('[IMP5] a cut-off or damaged archive is an error, never a shorter project', async () => {
    const tar = await tarOf([
      { name: 'a', content: noise },
      { name: 'b', content: noise },
    ])
    await expect(contentOf(tar.subarray(0, 4_000))).rejects.toThrow(/damaged or cut off/)
    await expect(contentOf(tar.subarray(0, 6_500))).rejects.toThrow(/damaged or cut off/)
    const packed = gzipSync(tar)
    await expect(contentOf(packed.subarray(0, packed.length - 20))).rejects.toThrow(/damaged or cut off/)
    const zip = zipOf([{ name: 'a', content: noise }])
    await expect(contentOf(zip.subarray(0, zip.length - 30))).rejects.toThrow(/damaged or cut off/)
    const flipped = Buffer.from(zip)
    flipped[200] = (flipped[200] ?? 0) ^ 0xff
    await expect(contentOf(flipped)).rejects.toThrow(/damaged/)
  })

  it('[IMP5] a wrong checksum or size is an error', async () => {
    await expect(contentOf(zipOf([{ name: 'a', content: 'abc', announced: { crc: 1 } }]))).rejects.toThrow(
      /checksum of a/,
    )
    await expect(contentOf(zipOf([{ name: 'a', content: 'abc', announced: { bytes: 2 } }]))).rejects.toThrow(
      /damaged/,
    )
    await expect(contentOf(zipOf([{ name: 'a', content: 'abc', announced: { bytes: 9 } }]))).rejects.toThrow(
      /damaged/,
    )
    await expect(contentOf(zipOf([{ name: 'a', content: 'abc' }], { entryCount: 3 }))).rejects.toThrow(
      /damaged/,
    )
  })
})

describe('bombs', () => {
  const limits = { entries: 10, unpackedBytes: 1024 * 1024, fileBytes: 100_000 }
  const zeros = (bytes: number) => Buffer.alloc(bytes)

  it('[IMP6] too many entries are refused before they are read', async () => {
    const names = Array.from({ length: 11 }, (_, at) => ({ name: `f${at}`, content: 'x' }))
    await expect(contentOf(zipOf(names), limits)).rejects.toThrow('lists more than 10 entries')
    await expect(contentOf(await tarGzOf(names), limits)).rejects.toThrow('lists more than 10 entries')
  })

  it('[IMP6] a file over the limit is left out, and its neighbours are read', async () => {
    const entries = [
      { name: 'big', content: zeros(100_001) },
      { name: 'small', content: 'x' },
    ]
    const found = [
      ['big', { reason: expect.stringContaining('is larger than') }],
      ['small', 'x'],
    ]
    expect(await contentOf(zipOf(entries), limits)).toEqual(found)
    expect(await contentOf(await tarOf(entries), limits)).toEqual(found)
  })

  it('[IMP6] a gzip bomb is stopped at the limit, whatever its headers say', async () => {
    const random = Buffer.from(Array.from({ length: 400_000 }, (_, at) => (at * at) % 251))
    const tar = await tarOf([1, 2, 3].map((at) => ({ name: `f${at}`, content: random })))
    await expect(contentOf(gzipSync(tar), limits)).rejects.toThrow('unpacks to more than 1 MiB')
    const bomb = gzipSync(await tarOf([{ name: 'zeros', content: zeros(30 * 1024 * 1024) }]))
    expect(bomb.length).toBeLessThan(40_000)
    await expect(contentOf(bomb)).rejects.toThrow('as a zip bomb does')
  })

  it('[IMP6] a zip whose entries share their bytes is refused', async () => {
    const shared = zipOf([
      { name: 'a', content: 'x'.repeat(1_000) },
      { name: 'b', content: 'x'.repeat(1_000), announced: { offset: 0 } },
    ])
    await expect(contentOf(shared)).rejects.toThrow(/overlap/)
    const quoted = zipOf([
      { name: 'a', content: 'x'.repeat(100), announced: { compressedBytes: 120 } },
      { name: 'b', content: 'y'.repeat(100) },
    ])
    await expect(contentOf(quoted)).rejects.toThrow(/overlap/)
  })

  it('[IMP6] a zip that announces far more than it holds is refused', async () => {
    const bomb = zipOf(
      Array.from({ length: 50 }, (_, at) => ({ name: `f${at}`, content: zeros(1024 * 1024) })),
    )
    await expect(contentOf(bomb)).rejects.toThrow('as a zip bomb does')
  })

  it('[IMP6] an archive inside is a file like any other', async () => {
    const inner = zipOf(zipEntries)
    const found = await contentOf(zipOf([{ name: 'inner.zip', content: inner, method: 0 }]))
    expect(found).toHaveLength(1)
  })

  it('[IMP6] names of megabytes are cut, not kept', async () => {
    const [[name] = ['']] = await contentOf(await tarOf([{ name: 'x'.repeat(1_000_000), content: 'a' }]))
    expect(name).toHaveLength(5_000)
  })
})

it('[IMP5] reading stops when its signal aborts', async () => {
  const path = await place(await tarGzOf(tarEntries))
  const leaving = new AbortController()
  const reading = Array.fromAsync(
    (async function* () {
      for await (const entry of readArchive('tar.gz', {
        path,
        limits: defaultArchiveLimits,
        signal: leaving.signal,
      })) {
        leaving.abort(new Error('left'))
        yield entry.name
      }
    })(),
  )
  await expect(reading).rejects.toThrow('left')
})
