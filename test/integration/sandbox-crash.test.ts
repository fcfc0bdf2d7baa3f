import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AgentClient, connectAgent } from '../../packages/server/src/platform/runtime/agent-client.ts'
import { createDockerRuntime } from '../../packages/server/src/platform/runtime/docker-runtime.ts'
import { createEgress } from '../../packages/server/src/platform/runtime/egress-proxy.ts'
import { createProcessRuntime } from '../../packages/server/src/platform/runtime/process-runtime.ts'
import {
  defaultWorkspaceLimits,
  type SessionRuntime,
} from '../../packages/server/src/platform/runtime/session-runtime.ts'
import { readText } from './runtime-support/agent-calls.ts'
import { builtAgent } from './runtime-support/agent-program.ts'
import { type DockerDaemon, startDockerDaemon } from './runtime-support/docker-daemon.ts'
import { pidsOf, processesOf } from './runtime-support/host-processes.ts'
import { isolatingRuntimes } from './runtime-support/runtimes.ts'
import { leftovers, versionsOnDisk, writeVersions } from './runtime-support/whole-versions.ts'

const root = process.getuid?.() === 0
const childScript = fileURLToPath(new URL('runtime-support/runtime-child.ts', import.meta.url))
const nothing = { processes: 0, threads: 0 }

describe.each(isolatingRuntimes)('kill -9 with the runtime $kind', ({ kind, missing }) => {
  const skip = missing !== undefined || !root
  let directory: string
  let daemon: DockerDaemon | undefined
  let epoch = 0
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
  const attempt = (name: string, act: () => Promise<void>) => it.skipIf(skip)(name, act, 120_000)

  const home = () => join(directory, 'workspaces/ws_child/home')
  const userOfHome = () => statSync(home()).uid
  const pidsOfAgent = () => pidsOf(userOfHome(), '/opt/node/bin/node')
  const noneLeft = () => expect.poll(() => processesOf(userOfHome())).toEqual(nothing)
  const containers = async () =>
    daemon === undefined
      ? []
      : await new Docker({ socketPath: daemon.socketPath }).listContainers({ all: true })
  const journal = () => join(home(), '.atelier/journal.json')

  interface Server {
    child: ChildProcess
    /** what a program in the workspace sees of descriptors and environments */
    inside: string
    /** versions that were acknowledged */
    acknowledged: number[]
    kill(): Promise<void>
  }

  /** A server with things in its environment and among its descriptors that must not get inside. */
  async function startServer(writeFrom = 0): Promise<Server> {
    epoch += 1
    const secret = join(directory, 'server-secret')
    writeFileSync(secret, 'secret')
    const descriptor = openSync(secret, 'r')
    const args = daemon === undefined ? [] : [daemon.image, daemon.socketPath]
    const stdio = ['ignore', 'pipe', 'inherit', ...Array.from({ length: 20 }, () => descriptor)] as const
    const child = spawn(process.execPath, [childScript, directory, ...args], {
      stdio: [...stdio],
      env: {
        ...process.env,
        TEST_EPOCH: String(epoch),
        TEST_WRITE_FROM: String(writeFrom),
        ATELIER_CANARY: 'canary-of-the-server',
      },
    })
    const ended = once(child, 'exit')
    const acknowledged: number[] = []
    const inside = await new Promise<string>((resolve, reject) => {
      if (child.stdout === null) return reject(new Error('the server has no output'))
      createInterface({ input: child.stdout }).on('line', (line) => {
        const [, version] = /^acknowledged (\d+)$/.exec(line) ?? []
        if (version === undefined) resolve((JSON.parse(line) as { inside: string }).inside)
        else acknowledged.push(Number(version))
      })
      ended.then(([code]) => reject(new Error(`the server ended with ${code}`)), reject)
    })
    const kill = async () => {
      child.kill('SIGKILL')
      await ended
    }
    return { child, inside, acknowledged, kill }
  }

  function openRuntime(): SessionRuntime {
    const logger = { warn: () => undefined }
    const shared = { directory, program: builtAgent(), openEgress: createEgress({ logger }), logger }
    return daemon === undefined
      ? createProcessRuntime(shared)
      : createDockerRuntime({ ...shared, image: daemon.image, socketPath: daemon.socketPath })
  }

  async function startAgent(runtime: SessionRuntime): Promise<AgentClient> {
    epoch += 1
    const ref = await runtime.create({
      workspaceId: 'ws_child',
      limits: defaultWorkspaceLimits,
      egress: { allow: [] },
    })
    await runtime.stop(ref, 0)
    await runtime.start(ref, BigInt(epoch))
    return await connectAgent({ stream: await runtime.dial(ref) })
  }

  /** Every other time once a batch has been decided, which is when most is half done. */
  async function someMoment(round: number, acknowledged: readonly number[]): Promise<void> {
    await expect.poll(() => acknowledged.length, { interval: 1 }).toBeGreaterThan(round % 3)
    const before = acknowledged.length
    while (round % 2 === 0 && !existsSync(journal()) && acknowledged.length < before + 20) await nextTurn()
  }

  attempt('[SBX8][SBX13] of the server: nothing got in while it ran, nothing stays behind', async () => {
    const { inside, kill } = await startServer()
    expect(inside).toContain('HOME=/home/user')
    expect(inside).not.toContain('server-secret')
    expect(inside).not.toContain('canary-of-the-server')
    expect(processesOf(userOfHome()).processes).toBeGreaterThan(4)
    await kill()
    await noneLeft()
  })

  attempt('[SBX13] of the server: the next starts over whatever it has left, with its files', async () => {
    const { kill } = await startServer()
    expect(await containers()).toHaveLength(kind === 'docker' ? 1 : 0)
    await kill()
    await noneLeft()
    await using runtime = openRuntime()
    expect(await readText(await startAgent(runtime), 'kept')).toBe('kept')
    expect(await containers()).toHaveLength(kind === 'docker' ? 1 : 0)
  })

  attempt('[SBX13] of the agent: it is seen as failed, with the reason, and starts again', async () => {
    await using runtime = openRuntime()
    const ref = { workspaceId: 'ws_child' }
    const agent = await startAgent(runtime)
    for (const pid of pidsOfAgent()) process.kill(pid, 'SIGKILL')
    await agent.closed
    await expect.poll(async () => (await runtime.status(ref)).state).toBe('failed')
    expect(await runtime.status(ref)).toMatchObject({ reason: expect.stringMatching(/ended/) })
    await noneLeft()
    expect(await containers()).toEqual([])
    expect(existsSync(join(directory, 'workspaces/ws_child/run/egress.sock'))).toBe(false)
    expect(await readText(await startAgent(runtime), 'kept')).toBe('kept')
  })

  attempt('[FILE20][AGT15] of the server, in the middle of writes and batches: old or new', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { acknowledged, kill } = await startServer(round * 10_000 + 1)
      await someMoment(round, acknowledged)
      await kill()
      await noneLeft()
      await expectWhole(acknowledged.at(-1) ?? 0)
    }
  })

  attempt('[FILE20][AGT15] of the agent, in the middle of writes and batches: old or new', async () => {
    for (let round = 0; round < 4; round += 1) {
      await using runtime = openRuntime()
      const agent = await startAgent(runtime)
      const acknowledged: number[] = []
      const writing = writeVersions(agent, {
        first: (round + 5) * 10_000 + 1,
        acknowledged: (version) => acknowledged.push(version),
      })
      writing.catch(() => undefined)
      await someMoment(round, acknowledged)
      for (const pid of pidsOfAgent()) process.kill(pid, 'SIGKILL')
      await expect(writing).rejects.toMatchObject({ code: 'GONE' })
      await noneLeft()
      await expectWhole(acknowledged.at(-1) ?? 0)
    }
  })

  /** No file is a mixture; what was acknowledged is there; a batch is whole once an agent has started again. */
  async function expectWhole(acknowledged: number): Promise<void> {
    expect(versionsOnDisk(home()).file).toBeGreaterThanOrEqual(acknowledged)
    await using runtime = openRuntime()
    await startAgent(runtime)
    const { file, batch } = versionsOnDisk(home())
    expect(batch).toHaveLength(1)
    expect(batch[0]).toBeGreaterThanOrEqual(acknowledged)
    expect(file - (batch[0] ?? 0)).toBeLessThanOrEqual(1)
    expect(leftovers(home())).toEqual([])
    expect(existsSync(journal())).toBe(false)
    expect(readdirSync(join(home(), 'workspace')).toSorted()).toEqual(['batch', 'file', 'kept'])
  }
})
