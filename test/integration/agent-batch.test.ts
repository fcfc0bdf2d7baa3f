import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { BatchOperation } from '@atelier/contract/agent-files'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bytes, put, readText } from './runtime-support/agent-calls.ts'
import { type AgentPair, startAgentPair } from './runtime-support/agent-pair.ts'

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

const write = (path: string, content: string, base: 'any' | 'absent' = 'any'): BatchOperation => ({
  op: 'write',
  path,
  base: { kind: base },
  bytes: bytes(content).length,
})

function batch(operations: BatchOperation[], contents = '') {
  return agent.call('files.batch', { operations }, { body: bytes(contents) })
}

/** Every file and directory with its content, to see that nothing has changed. */
function snapshot(directory = pair.root): Record<string, string | null> {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true })
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(directory.length + 1), entry.isFile() ? readFileSync(path, 'utf8') : null]
    }),
  )
}

describe('a batch', () => {
  it('[AGT14] does all its operations', async () => {
    await put(agent, 'old.txt', 'old')
    await put(agent, 'gone/x', 'x')
    await put(agent, 'here.txt', 'here')
    const { written } = await batch(
      [
        write('old.txt', 'new!'),
        write('a/b/c.txt', 'äöü', 'absent'),
        { op: 'delete', path: 'gone' },
        { op: 'move', from: 'here.txt', to: 'd/there.txt' },
        { op: 'mkdir', path: 'e/f' },
        write('empty', ''),
      ],
      'new!äöü',
    )
    expect(snapshot()).toEqual({
      'old.txt': 'new!',
      a: null,
      'a/b': null,
      'a/b/c.txt': 'äöü',
      d: null,
      'd/there.txt': 'here',
      e: null,
      'e/f': null,
      empty: '',
    })
    expect(written.map(({ path, size, created }) => [path, size, created])).toEqual([
      ['old.txt', 4, false],
      ['a/b/c.txt', 6, true],
      ['empty', 0, true],
    ])
    expect(readdirSync(join(pair.state, 'stage'))).toEqual([])
  })

  it.each<[string, BatchOperation, object]>([
    ['a name that is taken', write('taken', 'x', 'absent'), { code: 'CONFLICT', details: { path: 'taken' } }],
    [
      'another revision',
      { ...write('taken', 'x'), base: { kind: 'revision', revision: 'f'.repeat(64) } } as BatchOperation,
      { code: 'CONFLICT' },
    ],
    [
      'a move over something',
      { op: 'move', from: 'other', to: 'taken' },
      { code: 'CONFLICT', details: { path: 'taken' } },
    ],
    ['a move of nothing', { op: 'move', from: 'nothing', to: 'x' }, { code: 'NOT_FOUND' }],
    ['deleting nothing', { op: 'delete', path: 'nothing' }, { code: 'NOT_FOUND' }],
    ['a file in the way of a directory', write('taken/x', 'x'), { code: 'CONFLICT' }],
    ['a link on the way', write('link/x', 'x'), { code: 'LINK_REFUSED' }],
    ['a directory in place of a file', write('directory', 'x'), { code: 'NOT_A_FILE' }],
  ])('[AGT14] with %s does nothing', async (_name, bad, fault) => {
    await put(agent, 'taken', 'taken')
    await put(agent, 'other', 'other')
    await put(agent, 'directory/x', '')
    symlinkSync(join(pair.state, 'stage'), join(pair.root, 'link'))
    const before = snapshot()
    const contents = bad.op === 'write' ? 'newx' : 'new'
    await expect(
      batch([write('new.txt', 'new'), { op: 'mkdir', path: 'made' }, bad], contents),
    ).rejects.toMatchObject(fault)
    expect(snapshot()).toEqual(before)
    expect(readdirSync(join(pair.state, 'stage'))).toEqual([])
  })

  it('[AGT14] whose last step fails while it is done is undone', async () => {
    await put(agent, 'a', 'a')
    await put(agent, 'b', 'b')
    const before = snapshot()
    // The plan cannot see this: `made` is made by the batch itself, and then a file is to take its place.
    const operations: BatchOperation[] = [
      write('a', 'A'),
      { op: 'delete', path: 'b' },
      { op: 'mkdir', path: 'made' },
      write('made', 'm'),
    ]
    await expect(batch(operations, 'Am')).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(snapshot()).toEqual(before)
    expect(existsSync(join(pair.state, 'journal.json'))).toBe(false)
  })

  it.each<[string, BatchOperation[], string]>([
    ['twice the same path', [write('a', '1'), write('a', '2')], '12'],
    ['a path inside another', [{ op: 'delete', path: 'd' }, write('d/x', 'x')], 'x'],
    ['a path that is moved', [{ op: 'move', from: 'a', to: 'b' }, write('a', 'x')], 'x'],
  ])('[AGT14] that touches %s is refused', async (_name, operations, contents) => {
    await put(agent, 'd/y', '')
    await put(agent, 'a', '')
    await expect(batch(operations, contents)).rejects.toMatchObject({ code: 'INVALID' })
  })

  it.each([
    ['shorter', 'ab'],
    ['longer', 'abcd'],
  ])('[AGT14] whose upload is %s than it says is refused', async (_name, contents) => {
    await expect(batch([write('a', 'abc')], contents)).rejects.toMatchObject({ code: 'INVALID' })
    expect(snapshot()).toEqual({})
  })

  it('[AGT14] of a thousand files works', async () => {
    const paths = Array.from({ length: 1000 }, (_, index) => `d${index % 10}/f${index}`)
    await batch(
      paths.map((path) => write(path, 'x')),
      'x'.repeat(1000),
    )
    expect(await readText(agent, 'd9/f999')).toBe('x')
    const { entries } = await agent.call('files.list', { path: '', depth: 2 })
    expect(entries).toHaveLength(1010)
  })
})
