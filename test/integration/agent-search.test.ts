import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findRipgrep } from '../../packages/agent/src/files/grep.ts'
import { put } from './runtime-support/agent-calls.ts'
import { type AgentPair, startAgentPair } from './runtime-support/agent-pair.ts'

/** Without a directory that holds it, ripgrep is not found and the agent searches by itself. */
const engines = [
  ['ripgrep', process.env.PATH],
  ['scan', '/nonexistent'],
] as const
const noRipgrep = findRipgrep() === undefined
if (noRipgrep) console.warn('searching with ripgrep is not tested: it is not installed')

describe.each(engines)('searching with %s', (engine, path) => {
  const skip = engine === 'ripgrep' && noRipgrep
  let pair: AgentPair
  let agent: AgentPair['agent']
  beforeAll(async () => {
    pair = await startAgentPair({ path: path ?? '' })
    agent = pair.agent
  })
  afterAll(() => pair[Symbol.asyncDispose]())
  beforeEach(() => {
    for (const name of readdirSync(pair.root)) rmSync(join(pair.root, name), { recursive: true, force: true })
  })

  const grep = async (query: string, params: object = {}) =>
    await agent.call('files.grep', { query, ...params })

  it.skipIf(skip)('[AGT17] finds lines with their place, in characters', async () => {
    await put(agent, 'b.txt', 'one\nzwei Wörter here\n')
    await put(agent, 'a/a.txt', 'first HERE\n\n\nhere again')
    const found = await grep('here')
    expect(found).toEqual({
      engine,
      truncated: false,
      matches: [
        { path: 'a/a.txt', line: 1, column: 7, length: 4, text: 'first HERE' },
        { path: 'a/a.txt', line: 4, column: 1, length: 4, text: 'here again' },
        { path: 'b.txt', line: 2, column: 13, length: 4, text: 'zwei Wörter here' },
      ],
    })
  })

  it.skipIf(skip)('[AGT17] takes text for text and patterns for patterns', async () => {
    await put(agent, 'a.txt', 'f(x)\nfx\nconst f = 1\n')
    const lines = async (query: string, params: object) =>
      (await grep(query, params)).matches.map(({ line }) => line)
    expect(await lines('f(x)', {})).toEqual([1])
    expect(await lines('f.?x', { regex: true })).toEqual([1, 2])
    expect(await lines('F', { caseSensitive: true })).toEqual([])
    expect(await lines('f', { wholeWord: true })).toEqual([1, 3])
  })

  it.skipIf(skip)('[AGT17] searches hidden files, but no ignored, binary or foreign ones', async () => {
    await put(agent, '.gitignore', 'dist\n')
    for (const name of ['.env', 'dist/a', '.git/config', 'src/a.ts', 'src/b.js'])
      await put(agent, name, 'needle')
    writeFileSync(join(pair.root, 'binary'), Buffer.from('needle\0needle'))
    const paths = async (params: object = {}) =>
      (await grep('needle', params)).matches.map((match) => match.path)
    expect(await paths()).toEqual(['.env', 'src/a.ts', 'src/b.js'])
    expect(await paths({ glob: '*.ts' })).toEqual(['src/a.ts'])
    expect(await paths({ path: 'src' })).toEqual(['src/a.ts', 'src/b.js'])
  })

  it.skipIf(skip)('[AGT17] stops at its limit and says so', async () => {
    await put(agent, 'a.txt', 'x\n'.repeat(10_000))
    expect(await grep('x', { limit: 5 })).toMatchObject({ truncated: true, matches: { length: 5 } })
    expect(await grep('x', { limit: 2000, path: '' })).toMatchObject({ truncated: true })
    await put(agent, 'a.txt', 'x\n'.repeat(5))
    expect(await grep('x', { limit: 5 })).toMatchObject({ truncated: false })
  })

  it.skipIf(skip)('[AGT17] shows a long line around the match', async () => {
    await put(agent, 'min.js', `${'a'.repeat(10_000)}needle${'b'.repeat(10_000)}`)
    const [match] = (await grep('needle')).matches
    expect(match).toMatchObject({ column: 10_001, length: 6 })
    expect(match?.text).toHaveLength(500)
    expect(match?.text).toContain('needle')
  })

  it.skipIf(skip)("[AGT17] a broken pattern is the caller's fault", async () => {
    await put(agent, 'a.txt', 'x')
    await expect(grep('(', { regex: true })).rejects.toMatchObject({ code: 'INVALID' })
  })

  it.skipIf(skip)('[AGT17] an option of the program is only text', async () => {
    await put(agent, 'a.txt', '--files\n')
    expect((await grep('--files')).matches).toHaveLength(1)
  })
})

describe('a costly pattern', () => {
  it('[AGT17] is stopped after its time and holds nobody up', async () => {
    await using pair = await startAgentPair({ path: '/nonexistent' })
    await put(pair.agent, 'a.txt', `${'a'.repeat(40)}!`)
    const search = pair.agent.call('files.grep', { query: '(a+)+$', regex: true, timeoutMs: 1500 })
    search.catch(() => undefined)
    await pair.agent.call('files.stat', { path: 'a.txt' })
    await expect(search).rejects.toMatchObject({ code: 'TIMEOUT' })
  })
})
