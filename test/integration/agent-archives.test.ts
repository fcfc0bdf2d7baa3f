import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ZipFile } from 'yazl'
import { collect, put, readText } from './runtime-support/agent-calls.ts'
import { type AgentPair, startAgentPair } from './runtime-support/agent-pair.ts'

let pair: AgentPair
let agent: AgentPair['agent']
let scratch: string

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'atelier-archives-'))
  pair = await startAgentPair()
  agent = pair.agent
})
afterAll(async () => {
  await pair[Symbol.asyncDispose]()
  rmSync(scratch, { recursive: true })
})
beforeEach(() => {
  for (const name of readdirSync(pair.root)) rmSync(join(pair.root, name), { recursive: true, force: true })
})

const formats = ['zip', 'tar.gz'] as const

interface TarEntry {
  name: string
  type?: 'file' | 'symlink' | 'link' | 'character-device' | 'fifo'
  linkname?: string
  devmajor?: number
  devminor?: number
  content?: string
}

async function tarOf(entries: TarEntry[]): Promise<Buffer> {
  const archive = pack()
  for (const { content, ...header } of entries) archive.entry(header, content ?? '')
  archive.finalize()
  const parts: Buffer[] = []
  for await (const part of archive as AsyncIterable<Buffer>) parts.push(part)
  return gzipSync(Buffer.concat(parts))
}

async function zipOf(entries: { name: string; content: Buffer; mode?: number }[]): Promise<Buffer> {
  const archive = new ZipFile()
  for (const { name, content, mode = 0o100644 } of entries) archive.addBuffer(content, name, { mode })
  archive.end()
  const parts: Buffer[] = []
  for await (const part of archive.outputStream) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}

/** yazl refuses to write a name that leads out, so the name is changed afterwards, in both places it stands. */
async function zipWithName(name: string): Promise<Buffer> {
  const placeholder = 'x'.repeat(name.length)
  const bytes = await zipOf([{ name: placeholder, content: Buffer.from('evil') }])
  return Buffer.from(bytes.toString('latin1').replaceAll(placeholder, name), 'latin1')
}

describe.each(formats)('a %s archive', (format) => {
  async function archiveOf(path = ''): Promise<Buffer> {
    const call = agent.open('files.export', { format, path })
    const bytes = await collect(call)
    await call.result
    return bytes
  }

  it('[AGT18] goes out and comes in with names, contents and executables as they were', async () => {
    await put(agent, 'src/ü.txt', 'content')
    await put(agent, 'run.sh', '#!/bin/sh\n')
    chmodSync(join(pair.root, 'run.sh'), 0o755)
    mkdirSync(join(pair.root, 'empty'))
    const body = await archiveOf()
    const result = await agent.call('files.import', { format, path: 'copy/of' }, { body })
    expect(result).toMatchObject({ files: 2, directories: 2, bytes: 17, skipped: [] })
    expect(await readText(agent, 'copy/of/src/ü.txt')).toBe('content')
    expect(statSync(join(pair.root, 'copy/of/run.sh')).mode & 0o777).toBe(0o755)
    expect(statSync(join(pair.root, 'copy/of/empty')).isDirectory()).toBe(true)
    expect(readdirSync(join(pair.state, 'stage'))).toEqual([])
  })

  it('[AGT19] is one that others can read', async () => {
    await put(agent, 'src/a.txt', 'content')
    writeFileSync(join(scratch, 'archive'), await archiveOf())
    const tool = format === 'zip' ? ['python3', ['-m', 'zipfile', '-l']] : ['tar', ['-tzf']]
    const listing = execFileSync(String(tool[0]), [...(tool[1] ?? []), join(scratch, 'archive')], {
      encoding: 'utf8',
    })
    expect(listing).toContain('src/a.txt')
  })

  it('[AGT19] leaves links out and says so', async () => {
    await put(agent, 'a', 'a')
    symlinkSync('/etc/passwd', join(pair.root, 'link'))
    const call = agent.open('files.export', { format })
    await collect(call)
    expect(await call.result).toMatchObject({ files: 1, skipped: [{ name: 'link' }] })
  })

  it('[AGT18] does not replace a file unless told to, and then nothing else changes either', async () => {
    await put(agent, 'd/a', 'theirs')
    await put(agent, 'd/b', 'theirs')
    const body = await archiveOf('d')
    rmSync(join(pair.root, 'd/b'))
    await put(agent, 'd/a', 'mine')
    const refused = agent.call('files.import', { format, path: 'd' }, { body })
    await expect(refused).rejects.toMatchObject({ code: 'CONFLICT', details: { paths: ['d/a'] } })
    expect(readdirSync(join(pair.root, 'd'))).toEqual(['a'])
    await agent.call('files.import', { format, path: 'd', existing: 'replace' }, { body })
    expect(await readText(agent, 'd/a')).toBe('theirs')
    expect(await readText(agent, 'd/b')).toBe('theirs')
  })

  it('[AGT18] that is no archive, or is cut short, is refused and leaves nothing', async () => {
    await put(agent, 'a', 'a'.repeat(100_000))
    const whole = await archiveOf()
    for (const body of [
      Buffer.from('this is no archive at all, whatever its name says'),
      whole.subarray(0, whole.length - 60),
    ]) {
      await expect(agent.call('files.import', { format, path: 'in' }, { body })).rejects.toMatchObject({
        code: 'INVALID',
      })
    }
    expect(readdirSync(pair.root)).toEqual(['a'])
    expect(readdirSync(join(pair.state, 'stage'))).toEqual([])
  })

  it('[AGT18] is held to its caps', async () => {
    mkdirSync(join(pair.root, 'd'))
    for (let index = 0; index < 20; index += 1)
      writeFileSync(join(pair.root, `d/f${index}`), 'x'.repeat(1000))
    const body = await archiveOf('d')
    const caps = { entries: 1000, totalBytes: 1_000_000, ratio: 100 }
    const attempt = (changed: object) =>
      agent.call('files.import', { format, path: 'in', caps: { ...caps, ...changed } }, { body })
    await expect(attempt({ entries: 19 })).rejects.toMatchObject({
      code: 'TOO_LARGE',
      details: { cap: 'entries' },
    })
    await expect(attempt({ totalBytes: 19_999 })).rejects.toMatchObject({
      code: 'TOO_LARGE',
      details: { cap: 'totalBytes' },
    })
    expect(readdirSync(pair.root)).toEqual(['d'])
    await attempt({ entries: 20, totalBytes: 20_000 })
  })
})

describe('a bomb', () => {
  it.each(formats)(
    '[AGT18] in a %s archive is stopped by its ratio long before it is unpacked',
    async (format) => {
      const zeros = Buffer.alloc(64 * 1024 * 1024)
      const body =
        format === 'zip'
          ? await zipOf([{ name: 'zeros', content: zeros }])
          : await tarOf([{ name: 'zeros', content: zeros.toString('latin1') }])
      expect(body.length).toBeLessThan(100_000)
      const call = agent.call('files.import', { format }, { body })
      await expect(call).rejects.toMatchObject({ code: 'TOO_LARGE', details: { cap: 'ratio' } })
      expect(readdirSync(pair.root)).toEqual([])
    },
  )
})

describe('a malicious archive', () => {
  it.each(['../evil', '/evil', 'a/../../evil'])('[AGT18] with the path %s is refused whole', async (name) => {
    const archives = [
      {
        format: 'tar.gz',
        body: await tarOf([
          { name: 'good', content: 'good' },
          { name, content: 'evil' },
        ]),
      },
      { format: 'zip', body: await zipWithName(name) },
    ] as const
    for (const { format, body } of archives) {
      await expect(agent.call('files.import', { format }, { body })).rejects.toMatchObject({
        code: 'INVALID',
      })
    }
    expect(readdirSync(pair.root)).toEqual([])
    expect(readdirSync(join(pair.root, '..')).toSorted()).toEqual(['state', 'workspace'])
  })

  it('[AGT18] cannot write through a link it brings along', async () => {
    const body = await tarOf([
      { name: 'way', type: 'symlink', linkname: '/tmp' },
      { name: 'hard', type: 'link', linkname: '/etc/passwd' },
      { name: 'device', type: 'character-device', devmajor: 1, devminor: 3 },
      { name: 'pipe', type: 'fifo' },
      { name: 'way/file', content: 'inside' },
    ])
    const result = await agent.call('files.import', { format: 'tar.gz' }, { body })
    expect(result.skipped.map(({ name }) => name)).toEqual(['way', 'hard', 'device', 'pipe'])
    expect(readdirSync(pair.root)).toEqual(['way'])
    expect(readFileSync(join(pair.root, 'way/file'), 'utf8')).toBe('inside')
    expect(statSync(join(pair.root, 'way')).isDirectory()).toBe(true)
  })

  it('[AGT18] cannot write through a link that is in the workspace already', async () => {
    symlinkSync(scratch, join(pair.root, 'out'))
    const body = await tarOf([{ name: 'out/evil', content: 'evil' }])
    const call = agent.call('files.import', { format: 'tar.gz', existing: 'replace' }, { body })
    await expect(call).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(readdirSync(scratch)).not.toContain('evil')
  })

  it('[AGT18] in a zip with a symbolic link leaves the link out', async () => {
    const body = await zipOf([
      { name: 'link', content: Buffer.from('/etc/passwd'), mode: 0o120777 },
      { name: 'file', content: Buffer.from('file') },
    ])
    expect(await agent.call('files.import', { format: 'zip' }, { body })).toMatchObject({
      files: 1,
      skipped: [{ name: 'link' }],
    })
    expect(readdirSync(pair.root)).toEqual(['file'])
  })

  it('[AGT18] with a wrong checksum is refused', async () => {
    const body = await zipOf([{ name: 'file', content: Buffer.from('abcdefghij') }])
    const broken = Buffer.from(body)
    const sum = broken.indexOf(Buffer.from('PK\x01\x02', 'latin1')) + 16
    broken.writeUInt32LE((broken.readUInt32LE(sum) ^ 1) >>> 0, sum)
    await expect(agent.call('files.import', { format: 'zip' }, { body: broken })).rejects.toMatchObject({
      code: 'INVALID',
    })
  })
})
