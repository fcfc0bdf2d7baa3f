import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BatchOperation } from '@atelier/contract/agent-files'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEgress } from '../../packages/server/src/platform/runtime/egress-proxy.ts'
import { createProcessRuntime } from '../../packages/server/src/platform/runtime/process-runtime.ts'
import { readText } from './runtime-support/agent-calls.ts'
import { startAgentProcess } from './runtime-support/agent-process.ts'
import { builtAgent } from './runtime-support/agent-program.ts'
import { type DockerDaemon, startDockerDaemon } from './runtime-support/docker-daemon.ts'
import { pidsOf, processesOf } from './runtime-support/host-processes.ts'
import { isolatingRuntimes } from './runtime-support/runtimes.ts'

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

const root = process.getuid?.() === 0

describe.each(isolatingRuntimes)('kill -9 of the server with the runtime $kind', ({ kind, missing }) => {
  const skip = missing !== undefined || !root
  let directory: string
  let daemon: DockerDaemon | undefined
  beforeAll(async () => {
    if (skip) return
    directory = mkdtempSync('/tmp/atelier-killed-')
    if (kind === 'docker') daemon = await startDockerDaemon()
  })
  afterAll(async () => {
    if (skip) return
    await daemon?.[Symbol.asyncDispose]()
    rmSync(directory, { recursive: true, force: true })
  })

  /** A server with things in its environment and among its descriptors that must not get inside. */
  async function startServer(epoch: number): Promise<{ child: ChildProcess; inside: string }> {
    const secret = join(directory, 'server-secret')
    writeFileSync(secret, 'secret')
    const descriptor = openSync(secret, 'r')
    const script = fileURLToPath(new URL('runtime-support/runtime-child.ts', import.meta.url))
    const args = daemon === undefined ? [] : [daemon.image, daemon.socketPath]
    const stdio = ['ignore', 'pipe', 'inherit', ...Array.from({ length: 20 }, () => descriptor)] as const
    const child = spawn(process.execPath, [script, directory, ...args], {
      stdio: [...stdio],
      env: { ...process.env, TEST_EPOCH: String(epoch), ATELIER_CANARY: 'canary-of-the-server' },
    })
    const line = await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'exit')])
    const { inside } = JSON.parse(String(line[0])) as { inside: string }
    return { child, inside }
  }

  it.skipIf(skip)(
    '[SBX8][SBX13] lets nothing in while it runs and leaves nothing behind when it is killed',
    async () => {
      const { child, inside } = await startServer(1)
      expect(inside).toContain('HOME=/home/user')
      expect(inside).not.toContain('server-secret')
      expect(inside).not.toContain('canary-of-the-server')
      const user = statSync(join(directory, 'workspaces/ws_child/home')).uid
      expect(processesOf(user).processes).toBeGreaterThan(4)
      child.kill('SIGKILL')
      await expect.poll(() => processesOf(user), { timeout: 10_000 }).toEqual({ processes: 0, threads: 0 })
    },
  )

  it.skipIf(skip)('[SBX13] starts again where it was, over whatever the killed one has left', async () => {
    const { child } = await startServer(2)
    expect(readFileSync(join(directory, 'workspaces/ws_child/home/workspace/kept'), 'utf8')).toBe('kept')
    if (daemon !== undefined) {
      const containers = await new Docker({ socketPath: daemon.socketPath }).listContainers({ all: true })
      expect(containers).toHaveLength(1)
    }
    child.kill('SIGKILL')
    await once(child, 'exit')
  })

  it.skipIf(skip || kind !== 'process')(
    '[SBX13] a killed sandbox is seen as failed, with the reason, and starts again',
    async () => {
      const logger = { warn: () => undefined }
      await using runtime = createProcessRuntime({
        directory,
        program: builtAgent(),
        openEgress: createEgress({ logger }),
        logger,
      })
      const { defaultWorkspaceLimits: limits } = await import(
        '../../packages/server/src/platform/runtime/session-runtime.ts'
      )
      const { connectAgent } = await import('../../packages/server/src/platform/runtime/agent-client.ts')
      const ref = await runtime.create({ workspaceId: 'ws_child', limits, egress: { allow: [] } })
      await runtime.start(ref, 3n)
      const agent = await connectAgent({ stream: await runtime.dial(ref) })
      const user = statSync(join(directory, 'workspaces/ws_child/home')).uid
      for (const pid of pidsOf(user, '/opt/node/bin/node')) process.kill(pid, 'SIGKILL')
      await agent.closed
      await expect.poll(async () => (await runtime.status(ref)).state).toBe('failed')
      expect(await runtime.status(ref)).toMatchObject({ reason: expect.stringMatching(/ended/) })
      expect(existsSync(join(directory, 'workspaces/ws_child/run/egress.sock'))).toBe(false)
      await runtime.start(ref, 4n)
      const again = await connectAgent({ stream: await runtime.dial(ref) })
      expect(await readText(again, 'kept')).toBe('kept')
    },
  )
})
