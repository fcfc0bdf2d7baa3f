import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BatchOperation } from '@atelier/contract/agent-files'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAgentProcess } from './runtime-support/agent-process.ts'

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** The one character a file consists of; anything else is a mixture. */
function onlyCharacter(path: string, length: number): string {
  const content = readFileSync(path, 'latin1')
  expect(content.length).toBe(length)
  expect(new Set(content).size).toBe(1)
  return content.charAt(0)
}

describe('kill -9 of the agent', () => {
  let home: string
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'atelier-crash-'))
  })
  afterAll(() => rmSync(home, { recursive: true }))

  it('[AGT15] in the middle of a write leaves the old content or the new', async () => {
    const length = 700_000
    let next = 0
    for (let round = 0; round < 14; round += 1) {
      const { agent, kill } = await startAgentProcess(home)
      const writing = (async () => {
        for (;;) {
          next = (next + 1) % 10
          const body = Buffer.alloc(length, String(next))
          await agent.call('files.write', { path: 'file', base: { kind: 'any' } }, { body })
        }
      })()
      writing.catch(() => undefined)
      // Different moments of staging, fsync and rename; nothing depends on which.
      await pause(round === 0 ? 100 : 3 + round * 4)
      await kill()
      await expect(writing).rejects.toMatchObject({ code: 'GONE' })
      if (existsSync(join(home, 'workspace/file'))) onlyCharacter(join(home, 'workspace/file'), length)
    }
    const { kill } = await startAgentProcess(home)
    expect(readdirSync(join(home, 'state/stage'))).toEqual([])
    expect(readdirSync(join(home, 'workspace'))).toEqual(['file'])
    await kill()
  })

  it('[AGT15] in the middle of a batch leaves all of it or nothing, once an agent has started again', async () => {
    const files = Array.from({ length: 60 }, (_, index) => `batch/d${index % 7}/f${index}`)
    const length = 500
    const batch = (version: number): BatchOperation[] => [
      ...files.map((path): BatchOperation => ({ op: 'write', path, base: { kind: 'any' }, bytes: length })),
      { op: 'move', from: `batch/marker${version}`, to: `batch/marker${version + 1}` },
      { op: 'write', path: `batch/new${version + 1}`, base: { kind: 'absent' }, bytes: 0 },
      { op: 'delete', path: `batch/new${version}` },
    ]
    const send = (agent: Awaited<ReturnType<typeof startAgentProcess>>['agent'], version: number) =>
      agent.call(
        'files.batch',
        { operations: batch(version) },
        { body: Buffer.alloc(files.length * length, String((version + 1) % 10)) },
      )

    let version = 0
    const outcomes = new Set<string>()
    {
      const { agent, kill } = await startAgentProcess(home)
      await agent.call('files.write', { path: 'batch/marker0', base: { kind: 'any' } })
      await agent.call('files.write', { path: 'batch/new0', base: { kind: 'any' } })
      await send(agent, version)
      version += 1
      await kill()
    }
    for (let round = 0; round < 14; round += 1) {
      const { agent, kill } = await startAgentProcess(home)
      outcomes.add(agent.hello.recovered)
      version = checkWhole()
      const sending = send(agent, version)
      sending.catch(() => undefined)
      // From the moment the journal is there the batch must come true; before it, nothing of it may.
      const deadline = Date.now() + 2000
      if (round % 5 === 0) await pause(10 + round)
      else
        while (!existsSync(join(home, 'state/journal.json')) && Date.now() < deadline)
          await new Promise(setImmediate)
      await kill()
    }
    const { kill } = await startAgentProcess(home)
    checkWhole()
    expect(existsSync(join(home, 'state/journal.json'))).toBe(false)
    expect(readdirSync(join(home, 'state/stage'))).toEqual([])
    console.info(`batches cut short were: ${[...outcomes].join(', ')}`)
    await kill()

    /** Every file has one version, and the marker, the new file and the deleted one agree with it. Returns it. */
    function checkWhole(): number {
      const names = readdirSync(join(home, 'workspace/batch')).filter((name) => !/^d\d$/.test(name))
      const found = Number(/\d+$/.exec(names.find((name) => name.startsWith('marker')) ?? '')?.[0])
      expect(names.toSorted()).toEqual([`marker${found}`, `new${found}`])
      const characters = new Set(files.map((path) => onlyCharacter(join(home, 'workspace', path), length)))
      expect([...characters]).toEqual([String(found % 10)])
      return found
    }
  })
})
