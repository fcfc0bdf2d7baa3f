import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AgentClient } from '../../packages/server/src/platform/runtime/agent-client.ts'
import { collect, put, readText, shell } from './runtime-support/agent-calls.ts'
import { isolatingRuntimes, type RuntimeSite } from './runtime-support/runtimes.ts'

/** What is outside of the root and must neither be read nor changed. */
const secret = 'secret-outside'

/** Numbers of the system call renameat2, whose flag 2 is RENAME_EXCHANGE. */
const renameat2: Partial<Record<string, number>> = { x64: 316, arm64: 276 }

/** Rounds of every operation while names are swapped: enough to meet each state many times. */
const rounds = 60

describe.each(isolatingRuntimes)('while names are swapped, on the runtime $kind', ({ missing, open }) => {
  let site: RuntimeSite
  let agent: AgentClient
  let home: string
  beforeAll(async () => {
    if (missing !== undefined) return
    site = await open()
    agent = (await site.open('ws_racer')).agent
    home = join(site.directory, 'workspaces/ws_racer/home')
  })
  afterAll(async () => {
    if (missing === undefined) await site[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    if (missing !== undefined) return
    await shell(
      agent,
      `rm -rf ../outside * && mkdir ../outside && echo ${secret} > ../outside/name && mkdir a && echo inside > a/name`,
    )
  })
  const attempt = (name: string, act: () => Promise<void>) =>
    it.skipIf(missing !== undefined)(name, act, 180_000)

  /** Exchanges two names in one step, again and again, until told to stop; resolves to how often. */
  function swap(one: string, other: string): { stop(): Promise<number> } {
    const exchange = `syscall(${renameat2[process.arch]}, -100, my $a = "${one}", -100, my $b = "${other}", 2)`
    const script = `my $n = 0; until (-e "../stop") { $n++ if ${exchange} == 0 } print $n`
    const swapping = shell(agent, script, { interpreter: ['perl', '-e'], timeoutMs: 120_000 })
    return {
      async stop() {
        writeFileSync(join(home, 'stop'), '')
        const { stdout } = await swapping
        await shell(agent, 'rm -f ../stop')
        return Number(stdout)
      },
    }
  }

  /** Runs every operation many times; answers which outcomes each had. */
  async function outcomesOf(operations: Record<string, () => Promise<string>>) {
    const outcomes = new Map<string, Set<string>>()
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, operation] of Object.entries(operations)) {
        const outcome = await operation().catch(refusalOf)
        outcomes.set(name, (outcomes.get(name) ?? new Set()).add(outcome))
      }
    }
    return outcomes
  }

  /** A batch whose directory is taken away while it is undone tells so; it can do no more. */
  const refusalOf = ({ code, message }: { code: string; message: string }) =>
    code === 'INTERNAL' && message.endsWith('could not be undone') ? 'CONFLICT' : `${code}`

  const refusals = ['LINK_REFUSED', 'NOT_A_DIRECTORY', 'NOT_FOUND', 'NOT_A_FILE', 'CONFLICT']
  const done = async (act: Promise<unknown>) => {
    await act
    return 'done'
  }

  function expectNothingOutside(outcomes: Map<string, Set<string>>): void {
    for (const [name, seen] of outcomes) {
      const strange = [...seen].filter((outcome) => !['done', 'inside\n', ...refusals].includes(outcome))
      expect(strange, name).toEqual([])
    }
    expect(readdirSync(join(home, 'outside'))).toEqual(['name'])
    expect(readFileSync(join(home, 'outside/name'), 'utf8')).toBe(`${secret}\n`)
  }

  attempt('[SBX11] a directory swapped for a link leads no operation astray', async () => {
    await shell(agent, 'ln -s ../outside b')
    const swapping = swap('a', 'b')
    const body = Buffer.from('x')
    const outcomes = await outcomesOf({
      read: () => readText(agent, 'a/name'),
      write: () =>
        done(
          agent.call(
            'files.write',
            { path: 'a/written', base: { kind: 'any' }, createParents: false },
            { body },
          ),
        ),
      list: async () => {
        const { entries } = await agent.call('files.list', { path: 'a' })
        return entries.every(({ path }) => ['a/name', 'a/written', 'a/made', 'a/moved'].includes(path))
          ? 'done'
          : `listed ${entries.map(({ path }) => path)}`
      },
      mkdir: () => done(agent.call('files.mkdir', { path: 'a/made' })),
      'move out': () => done(agent.call('files.move', { from: 'a/written', to: 'a/moved' })),
      delete: () => done(agent.call('files.delete', { path: 'a/moved' })),
      'delete all': () => done(agent.call('files.delete', { path: 'a/made', recursive: true })),
      batch: () =>
        done(
          agent.call(
            'files.batch',
            { operations: [{ op: 'write', path: 'a/written', base: { kind: 'any' }, bytes: 1 }] },
            { body },
          ),
        ),
      export: async () => {
        const call = agent.open('files.export', { format: 'zip', path: '' })
        const archive = await collect(call)
        await call.result
        return archive.includes('outside') ? 'exported what is outside' : 'done'
      },
    })
    expect(await swapping.stop()).toBeGreaterThan(0)
    expectNothingOutside(outcomes)
    expect(outcomes.get('read')).toContain('inside\n')
  })

  attempt('[SBX11] a file swapped for a link is neither read nor written through', async () => {
    await shell(agent, 'echo inside > file; ln -s ../outside/name link')
    const swapping = swap('file', 'link')
    const body = Buffer.from('inside\n')
    const outcomes = await outcomesOf({
      read: () => readText(agent, 'file'),
      write: () => done(agent.call('files.write', { path: 'file', base: { kind: 'any' } }, { body })),
      stat: async () => {
        const { type, size } = await agent.call('files.stat', { path: 'file', revision: true })
        return type === 'file' && size !== body.length ? `a file of ${size}` : 'done'
      },
    })
    expect(await swapping.stop()).toBeGreaterThan(0)
    expectNothingOutside(outcomes)
    expect(outcomes.get('read')).toContain('inside\n')
  })

  attempt('[SBX11] a file replaced while it is read is one version or a conflict', async () => {
    await put(agent, 'x', 'x'.repeat(300_000))
    await put(agent, 'y', 'y'.repeat(300_000))
    const swapping = swap('x', 'y')
    const outcomes = await outcomesOf({
      read: async () => ([...new Set(await readText(agent, 'x'))].length === 1 ? 'done' : 'a mixture'),
    })
    expect(await swapping.stop()).toBeGreaterThan(0)
    expectNothingOutside(outcomes)
  })
})
