import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bytes, collect, put, readText } from './runtime-support/agent-calls.ts'
import { type AgentPair, startAgentPair } from './runtime-support/agent-pair.ts'

const hello = 'hello\n'
/** `printf 'hello\n' | sha256sum` */
const helloRevision = '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03'

let pair: AgentPair
let agent: AgentPair['agent']

beforeAll(async () => {
  pair = await startAgentPair()
  agent = pair.agent
})
afterAll(() => pair[Symbol.asyncDispose]())
beforeEach(() => {
  for (const name of readdirSync(pair.root)) rmSync(join(pair.root, name), { recursive: true, force: true })
})

describe('writing a file', () => {
  it('[AGT11] gives its content the revision SHA-256 and makes the directories it needs', async () => {
    const written = await put(agent, 'a/b/c.txt', hello)
    expect(written).toMatchObject({ path: 'a/b/c.txt', revision: helloRevision, size: 6, created: true })
    expect(readFileSync(join(pair.root, 'a/b/c.txt'), 'utf8')).toBe(hello)
    expect(statSync(join(pair.root, 'a/b/c.txt')).mode & 0o777).toBe(0o644)
  })

  it('[AGT11] replaces in one step: whoever has the old file open keeps reading the old', async () => {
    await put(agent, 'a.txt', 'old')
    const before = statSync(join(pair.root, 'a.txt')).ino
    const { created } = await put(agent, 'a.txt', 'new')
    expect(created).toBe(false)
    expect(statSync(join(pair.root, 'a.txt')).ino).not.toBe(before)
  })

  it('[AGT11] keeps a file executable unless told otherwise', async () => {
    await agent.call(
      'files.write',
      { path: 'run.sh', base: { kind: 'absent' }, executable: true },
      { body: bytes('#!/bin/sh\n') },
    )
    await put(agent, 'run.sh', '#!/bin/sh\necho\n')
    expect((await agent.call('files.stat', { path: 'run.sh' })).executable).toBe(true)
  })

  it('[AGT12] refuses a name that is taken, and says by what', async () => {
    await put(agent, 'a.txt', hello)
    const again = agent.call('files.write', { path: 'a.txt', base: { kind: 'absent' } }, { body: bytes('x') })
    await expect(again).rejects.toMatchObject({ code: 'CONFLICT', details: { revision: helloRevision } })
    expect(await readText(agent, 'a.txt')).toBe(hello)
  })

  it('[AGT12] refuses a base that is not the current revision, or no file at all', async () => {
    await put(agent, 'a.txt', hello)
    const base = { kind: 'revision', revision: 'a'.repeat(64) } as const
    const write = (path: string) => agent.call('files.write', { path, base }, { body: bytes('x') })
    await expect(write('a.txt')).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { revision: helloRevision },
    })
    await expect(write('b.txt')).rejects.toMatchObject({ code: 'CONFLICT', details: { revision: null } })
    expect(existsSync(join(pair.root, 'b.txt'))).toBe(false)
  })

  it('[AGT12] of two writers with the same base one wins', async () => {
    await put(agent, 'a.txt', hello)
    const base = { kind: 'revision', revision: helloRevision } as const
    const writes = ['one', 'two', 'three', 'four'].map((text) =>
      agent.call('files.write', { path: 'a.txt', base }, { body: bytes(text) }),
    )
    const outcomes = await Promise.allSettled(writes)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const winner = outcomes.findIndex(({ status }) => status === 'fulfilled')
    expect(await readText(agent, 'a.txt')).toBe(['one', 'two', 'three', 'four'][winner])
  })

  it('[AGT12] notices what another program has written', async () => {
    const { revision } = await put(agent, 'a.txt', hello)
    writeFileSync(join(pair.root, 'a.txt'), 'by hand')
    const write = agent.call(
      'files.write',
      { path: 'a.txt', base: { kind: 'revision', revision } },
      { body: bytes('x') },
    )
    await expect(write).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await readText(agent, 'a.txt')).toBe('by hand')
  })

  it('[AGT11] over its limit leaves the old file and nothing half-written', async () => {
    await put(agent, 'a.txt', hello)
    const write = agent.call(
      'files.write',
      { path: 'a.txt', base: { kind: 'any' }, maxBytes: 10 },
      { body: bytes('x'.repeat(11)) },
    )
    await expect(write).rejects.toMatchObject({ code: 'TOO_LARGE', details: { limit: 10 } })
    expect(await readText(agent, 'a.txt')).toBe(hello)
    expect(readdirSync(join(pair.state, 'stage'))).toEqual([])
  })

  it('[AGT5] cancelled half-way leaves the old file and nothing half-written', async () => {
    await put(agent, 'a.txt', hello)
    const call = agent.open('files.write', { path: 'a.txt', base: { kind: 'any' } })
    await call.write(bytes('half'))
    call.cancel()
    await expect(call.result).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(await readText(agent, 'a.txt')).toBe(hello)
    expect(readdirSync(join(pair.state, 'stage'))).toEqual([])
  })

  it("[AGT11] works on when the user has removed the agent's own directory", async () => {
    rmSync(join(pair.state, 'stage'), { recursive: true })
    await put(agent, 'a.txt', hello)
    expect(await readText(agent, 'a.txt')).toBe(hello)
  })
})

describe('reading a file', () => {
  it('[AGT13] tells size and revision before the first byte', async () => {
    await put(agent, 'a.txt', hello)
    const call = agent.open('files.read', { path: 'a.txt' })
    const messages = await Array.fromAsync(call.messages)
    expect(messages[0]).toMatchObject({
      kind: 'event',
      event: { kind: 'opened', size: 6, revision: helloRevision },
    })
    expect(
      messages.slice(1).map((each) => (each.kind === 'data' ? Buffer.from(each.bytes).toString() : '')),
    ).toEqual([hello])
    expect(await call.result).toEqual({ bytes: 6 })
  })

  it('[AGT13] gives a range, and what there is of a range that goes beyond', async () => {
    await put(agent, 'a.txt', '0123456789')
    const range = async (offset: number, length?: number) =>
      (await collect(agent.open('files.read', { path: 'a.txt', offset, length }))).toString()
    expect(await range(2, 3)).toBe('234')
    expect(await range(8, 100)).toBe('89')
    expect(await range(4)).toBe('456789')
    expect(await range(100, 5)).toBe('')
  })

  it('[AGT13] sends a large file whole while the reader is slow', async () => {
    const content = Buffer.alloc(5_000_000, 'abcdefghij')
    writeFileSync(join(pair.root, 'large'), content)
    const call = agent.open('files.read', { path: 'large' })
    const parts: Uint8Array[] = []
    for await (const message of call.messages) {
      if (message.kind === 'data') parts.push(message.bytes)
      await new Promise(setImmediate)
    }
    expect(Buffer.concat(parts).equals(content)).toBe(true)
  })

  it('[AGT13] never sends a mixture of two versions', async () => {
    writeFileSync(join(pair.root, 'log'), Buffer.alloc(4_000_000, 'a'))
    const call = agent.open('files.read', { path: 'log' })
    const reader = call.messages[Symbol.asyncIterator]()
    await reader.next()
    writeFileSync(join(pair.root, 'log'), Buffer.alloc(4_000_000, 'b'), { flag: 'r+' })
    while ((await reader.next().catch(() => ({ done: true }))).done !== true);
    await expect(call.result).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('[AGT13] of a file that is replaced meanwhile gives the old one whole', async () => {
    await put(agent, 'a.txt', 'a'.repeat(2_000_000))
    const call = agent.open('files.read', { path: 'a.txt' })
    const reader = call.messages[Symbol.asyncIterator]()
    await reader.next()
    await put(agent, 'a.txt', 'b')
    let size = 0
    for (let next = await reader.next(); next.done !== true; next = await reader.next()) {
      if (next.value.kind === 'data') size += next.value.bytes.length
    }
    expect(size).toBe(2_000_000)
    expect(await call.result).toEqual({ bytes: 2_000_000 })
  })

  it('[AGT13] refuses a file that is larger than the caller wants', async () => {
    await put(agent, 'a.txt', hello)
    await expect(agent.open('files.read', { path: 'a.txt', maxSize: 5 }).result).rejects.toMatchObject({
      code: 'TOO_LARGE',
      details: { size: 6 },
    })
  })
})

describe('what is not a file of the workspace', () => {
  it.each(['../state/epoch', '/etc/passwd', 'a/../../x', 'a//b'])(
    '[AGT10] the path %s is refused',
    async (path) => {
      const fault = { code: 'INVALID', details: { issues: [{ field: 'path' }] } }
      await expect(agent.open('files.read', { path }).result).rejects.toMatchObject(fault)
      await expect(put(agent, path, 'x')).rejects.toMatchObject(fault)
      await expect(agent.call('files.delete', { path })).rejects.toMatchObject(fault)
    },
  )

  it('[AGT10] a link is refused as a file and on the way to one', async () => {
    symlinkSync('/etc', join(pair.root, 'etc'))
    symlinkSync('/etc/hostname', join(pair.root, 'name'))
    mkdirSync(join(pair.root, 'real'))
    symlinkSync('real', join(pair.root, 'inside'))
    for (const path of ['etc/hostname', 'name', 'inside/x']) {
      await expect(agent.open('files.read', { path }).result).rejects.toMatchObject({ code: 'LINK_REFUSED' })
      await expect(put(agent, path, 'x')).rejects.toMatchObject({ code: 'LINK_REFUSED' })
    }
    await expect(agent.call('files.list', { path: 'etc' })).rejects.toMatchObject({ code: 'LINK_REFUSED' })
    expect(readdirSync(join(pair.root, 'real'))).toEqual([])
  })

  it('[AGT10] a link can be seen, moved and removed as the link it is', async () => {
    symlinkSync('/etc/hostname', join(pair.root, 'link'))
    expect((await agent.call('files.list', { path: '' })).entries).toMatchObject([
      { path: 'link', type: 'symlink' },
    ])
    await agent.call('files.move', { from: 'link', to: 'moved' })
    await agent.call('files.delete', { path: 'moved' })
    expect(readdirSync(pair.root)).toEqual([])
    expect(existsSync('/etc/hostname')).toBe(true)
  })

  it('[AGT22] a pipe, which would block whoever opens it, is refused at once', async () => {
    execFileSync('mkfifo', [join(pair.root, 'pipe')])
    await expect(agent.open('files.read', { path: 'pipe' }).result).rejects.toMatchObject({
      code: 'NOT_A_FILE',
    })
    await expect(put(agent, 'pipe', 'x')).rejects.toMatchObject({ code: 'NOT_A_FILE' })
    expect((await agent.call('files.list', { path: '', revisions: true })).entries).toMatchObject([
      { path: 'pipe', type: 'other' },
    ])
  })

  it('[AGT22] a directory is no file, and a file no directory', async () => {
    await put(agent, 'd/f', hello)
    await expect(agent.open('files.read', { path: 'd' }).result).rejects.toMatchObject({ code: 'NOT_A_FILE' })
    await expect(put(agent, 'd', 'x')).rejects.toMatchObject({ code: 'NOT_A_FILE' })
    await expect(put(agent, 'd/f/g', 'x')).rejects.toMatchObject({ code: 'NOT_A_DIRECTORY' })
    await expect(agent.call('files.list', { path: 'd/f' })).rejects.toMatchObject({ code: 'NOT_A_DIRECTORY' })
  })

  it('[AGT22] what is not there is NOT_FOUND', async () => {
    for (const call of [
      () => agent.open('files.read', { path: 'no' }).result,
      () => agent.call('files.stat', { path: 'no/where' }),
      () => agent.call('files.list', { path: 'no' }),
      () => agent.call('files.delete', { path: 'no' }),
      () => agent.call('files.move', { from: 'no', to: 'yes' }),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
  })
})

describe('listing', () => {
  const paths = async (params: object) =>
    (await agent.call('files.list', { path: '', ...params })).entries.map(({ path }) => path)

  it('[AGT16] goes as deep as asked, a directory before what it holds', async () => {
    for (const path of ['b/c/d.txt', 'a.txt', 'b/a.ts', 'b.txt']) await put(agent, path, hello)
    expect(await paths({})).toEqual(['a.txt', 'b', 'b.txt'])
    expect(await paths({ depth: 2 })).toEqual(['a.txt', 'b', 'b/a.ts', 'b/c', 'b.txt'])
    expect(await paths({ depth: 9, path: 'b' })).toEqual(['b/a.ts', 'b/c', 'b/c/d.txt'])
  })

  it('[AGT16] in pieces gives every entry once', async () => {
    for (let index = 0; index < 25; index += 1) await put(agent, `d${index % 5}/f${index}`, '')
    const all = await paths({ depth: 9 })
    const pieces: string[] = []
    for (let after: string | null | undefined = undefined; after !== null; ) {
      const piece: { entries: { path: string }[]; next: string | null } = await agent.call('files.list', {
        path: '',
        depth: 9,
        limit: 4,
        after,
      })
      expect(piece.entries.length).toBeLessThanOrEqual(4)
      pieces.push(...piece.entries.map(({ path }) => path))
      after = piece.next
    }
    expect(pieces).toEqual(all)
  })

  it('[AGT16] follows .gitignore files where asked, the nearest last', async () => {
    for (const path of [
      '.gitignore',
      'src/a.ts',
      'dist/a.js',
      'src/a.log',
      'src/keep.log',
      '.git/HEAD',
      'src/.gitignore',
    ]) {
      await put(agent, path, '')
    }
    await put(agent, '.gitignore', 'dist/\n*.log\n')
    await put(agent, 'src/.gitignore', '!keep.log\n')
    expect(await paths({ depth: 9, gitignore: 'hide' })).toEqual([
      '.gitignore',
      'src',
      'src/.gitignore',
      'src/a.ts',
      'src/keep.log',
    ])
    expect(await paths({ depth: 9, gitignore: 'hide', path: 'src' })).toEqual([
      'src/.gitignore',
      'src/a.ts',
      'src/keep.log',
    ])
  })

  it('[AGT16] marks what .gitignore files name and leaves it closed, where asked', async () => {
    for (const path of ['src/a.ts', 'dist/a.js', 'dist/deep/b.js', 'node_modules/x/index.js']) {
      await put(agent, path, '')
    }
    await put(agent, '.gitignore', 'dist/\n')
    const params = {
      path: '',
      depth: 9,
      gitignore: 'mark' as const,
      closed: ['node_modules'],
    } satisfies object
    const { entries } = await agent.call('files.list', params)
    expect(entries.map(({ path, ignored }) => [path, ignored])).toEqual([
      ['.gitignore', false],
      ['dist', true],
      ['node_modules', false],
      ['src', false],
      ['src/a.ts', false],
    ])
    expect(await paths({ path: 'dist', gitignore: 'mark' })).toEqual(['dist/a.js', 'dist/deep'])
    expect(await paths({ path: 'node_modules', closed: ['node_modules'] })).toEqual(['node_modules/x'])
  })

  it('[AGT16] takes a pattern in the language of .gitignore', async () => {
    for (const path of ['a.ts', 'src/b.ts', 'src/c.js']) await put(agent, path, '')
    expect(await paths({ depth: 9, glob: '*.ts' })).toEqual(['a.ts', 'src/b.ts'])
    expect(await paths({ depth: 9, glob: '/src/*.ts' })).toEqual(['src/b.ts'])
  })

  it('[AGT16] adds revisions where asked', async () => {
    await put(agent, 'a.txt', hello)
    expect((await agent.call('files.list', { path: '', revisions: true })).entries).toMatchObject([
      { revision: helloRevision },
    ])
    expect(await agent.call('files.stat', { path: 'a.txt', revision: true })).toMatchObject({
      revision: helloRevision,
      size: 6,
    })
  })
})

describe('making a directory', () => {
  it('[AGT12] that is there already succeeds, unless it must be new', async () => {
    await agent.call('files.mkdir', { path: 'a/b' })
    await agent.call('files.mkdir', { path: 'a/b' })
    const refused = { code: 'CONFLICT', details: { path: 'a/b' } }
    await expect(agent.call('files.mkdir', { path: 'a/b', exclusive: true })).rejects.toMatchObject(refused)
    const operations = [{ op: 'mkdir' as const, path: 'a/b', exclusive: true }]
    await expect(agent.call('files.batch', { operations }, { body: bytes('') })).rejects.toMatchObject(
      refused,
    )
  })
})

describe('moving and deleting', () => {
  it('[AGT20] moves a directory with all it holds, and makes the directories it needs', async () => {
    await put(agent, 'a/b/c.txt', hello)
    await agent.call('files.move', { from: 'a/b', to: 'x/y/z' })
    expect(await readText(agent, 'x/y/z/c.txt')).toBe(hello)
    expect(existsSync(join(pair.root, 'a/b'))).toBe(false)
  })

  it('[AGT20] never moves over what is there, nor a directory into itself', async () => {
    await put(agent, 'a', 'a')
    await put(agent, 'b', 'b')
    await expect(agent.call('files.move', { from: 'a', to: 'b' })).rejects.toMatchObject({ code: 'CONFLICT' })
    await agent.call('files.mkdir', { path: 'd' })
    await expect(agent.call('files.move', { from: 'd', to: 'd/e' })).rejects.toMatchObject({
      code: 'INVALID',
    })
    expect(await readText(agent, 'b')).toBe('b')
  })

  it('[AGT20] deletes a directory that holds something only when told to', async () => {
    await put(agent, 'd/e/f', hello)
    await expect(agent.call('files.delete', { path: 'd' })).rejects.toMatchObject({ code: 'NOT_EMPTY' })
    await agent.call('files.delete', { path: 'd', recursive: true })
    expect(existsSync(join(pair.root, 'd'))).toBe(false)
    expect(readdirSync(join(pair.state, 'stage'))).toEqual([])
  })

  it('[AGT20] deletes a deep tree, unreadable directories and hard links, and nothing beside it', async () => {
    const deep = join(pair.root, 'deep', ...Array.from({ length: 300 }, () => 'd'))
    mkdirSync(deep, { recursive: true })
    await put(agent, 'kept', hello)
    linkSync(join(pair.root, 'kept'), join(pair.root, 'deep/linked'))
    symlinkSync(pair.state, join(pair.root, 'deep/state'))
    mkdirSync(join(pair.root, 'deep/closed/inner'), { recursive: true })
    chmodSync(join(pair.root, 'deep/closed'), 0)
    await agent.call('files.delete', { path: 'deep', recursive: true })
    expect(readdirSync(pair.root)).toEqual(['kept'])
    expect(readdirSync(join(pair.state, 'stage'))).toEqual([])
    expect(existsSync(join(pair.state, 'epoch'))).toBe(true)
    expect(await readText(agent, 'kept')).toBe(hello)
  })

  it('[AGT12] deletes only the revision the caller has seen, if it says one', async () => {
    await put(agent, 'a.txt', hello)
    const base = { kind: 'revision', revision: 'b'.repeat(64) } as const
    await expect(agent.call('files.delete', { path: 'a.txt', base })).rejects.toMatchObject({
      code: 'CONFLICT',
    })
    await agent.call('files.delete', { path: 'a.txt', base: { kind: 'revision', revision: helloRevision } })
    expect(readdirSync(pair.root)).toEqual([])
  })

  it('[AGT20] making a directory twice is no fault, in place of a file it is', async () => {
    await agent.call('files.mkdir', { path: 'a/b' })
    expect(await agent.call('files.mkdir', { path: 'a/b' })).toMatchObject({ type: 'directory' })
    await put(agent, 'f', '')
    await expect(agent.call('files.mkdir', { path: 'f' })).rejects.toMatchObject({ code: 'CONFLICT' })
  })
})
