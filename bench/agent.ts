import { execFileSync } from 'node:child_process'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn as spawnTerminal } from '@lydell/node-pty'
import { type AgentClient, connectAgent } from '../packages/server/src/platform/runtime/agent-client.ts'
import { createEgress } from '../packages/server/src/platform/runtime/egress-proxy.ts'
import { createNoneRuntime } from '../packages/server/src/platform/runtime/none-runtime.ts'
import { createProcessRuntime } from '../packages/server/src/platform/runtime/process-runtime.ts'
import {
  defaultWorkspaceLimits,
  type SessionRuntime,
} from '../packages/server/src/platform/runtime/session-runtime.ts'
import { interleave, median, round, summarise, writeResults } from './harness.ts'

/**
 * What a workspace costs: starting its agent in bubblewrap (beside the same agent without a sandbox), its terminals
 * (beside bare node-pty in this process), its durable writes (beside the same system calls made here), its watcher and
 * its memory. Client and agents share the machine's cores.
 */
const starts = Number(process.env.STARTS ?? 50)
const rounds = Number(process.env.ROUNDS ?? 5)
const logBytes = 32 * 1024 * 1024
const fileBytes = 8 * 1024
const writes = 300
const treeDirectories = 2_000
const treeFiles = 20_000

const agentPackage = join(import.meta.dirname, '../packages/agent')
execFileSync(process.execPath, [join(agentPackage, 'build.mjs')])
const directory = mkdtempSync(join(tmpdir(), 'atelier-bench-agent-'))
execFileSync('chmod', ['755', directory])

const shared = { program: { directory: join(agentPackage, 'dist'), node: process.execPath } }
const logger = { warn: (data: object, message: string) => console.error(message, data) }
await using sandboxed = createProcessRuntime({
  ...shared,
  directory: join(directory, 'sandboxed'),
  openEgress: createEgress({ logger }),
  logger,
})
await using plain = createNoneRuntime({
  ...shared,
  directory: join(directory, 'plain'),
  path: process.env.PATH ?? '',
  facts: { configured: true, singleUser: true, loopbackOnly: true },
})

let epoch = 0n
async function open(
  runtime: SessionRuntime,
): Promise<{ agent: AgentClient; readyMs: number; stop: () => Promise<void> }> {
  const ref = await runtime.create({ workspaceId: 'ws_bench', limits: defaultWorkspaceLimits, egress: null })
  epoch += 1n
  const begun = performance.now()
  await runtime.start(ref, epoch)
  const agent = await connectAgent({ stream: await runtime.dial(ref) })
  return { agent, readyMs: performance.now() - begun, stop: () => runtime.stop(ref, 2000) }
}

async function measureStart(runtime: SessionRuntime): Promise<{ readyMs: number; firstByteMs: number }> {
  const { agent, readyMs, stop } = await open(runtime)
  const begun = performance.now()
  const terminal = agent.open('terminal.open', { command: ['/bin/bash', '--norc'] })
  for await (const message of terminal.messages) if (message.kind === 'data') break
  const firstByteMs = performance.now() - begun
  await stop()
  return { readyMs, firstByteMs }
}

/** A coloured log, as builds print them. */
function makeLog(path: string): void {
  const line =
    '\x1b[32m2026-11-20 12:00:00\x1b[0m \x1b[1minfo\x1b[0m compiled module number of many in a short time\n'
  writeFileSync(path, line.repeat(Math.ceil(logBytes / line.length)))
}

async function terminalOfAgent(agent: AgentClient): Promise<{ megabytesPerSecond: number; frames: number }> {
  const begun = performance.now()
  let size = 0
  let frames = 0
  const terminal = agent.open('terminal.open', { command: ['cat', 'log'] })
  for await (const message of terminal.messages) {
    if (message.kind !== 'data') continue
    size += message.bytes.length
    frames += 1
  }
  return { megabytesPerSecond: size / 1e3 / (performance.now() - begun), frames }
}

function terminalOfNodePty(log: string): Promise<{ megabytesPerSecond: number; frames: number }> {
  return new Promise((resolve) => {
    const begun = performance.now()
    let size = 0
    let frames = 0
    const terminal = spawnTerminal('cat', [log], { encoding: null })
    terminal.onData((data: string | Buffer) => {
      size += data.length
      frames += 1
    })
    terminal.onExit(() => resolve({ megabytesPerSecond: size / 1e3 / (performance.now() - begun), frames }))
  })
}

const content = Buffer.alloc(fileBytes, 'x')

/** The system calls of a durable replacement, one after the other, with nothing around them. */
function bareWrites(target: string): number {
  mkdirSync(target, { recursive: true })
  const parent = openSync(target, 'r')
  const begun = performance.now()
  for (let index = 0; index < writes; index += 1) {
    const file = openSync(join(target, 'draft'), 'w')
    writeSync(file, content)
    fsyncSync(file)
    closeSync(file)
    renameSync(join(target, 'draft'), join(target, `f${index % 50}`))
    fsyncSync(parent)
  }
  const perSecond = writes / ((performance.now() - begun) / 1000)
  closeSync(parent)
  return perSecond
}

async function agentWrites(agent: AgentClient, parallel: number): Promise<number> {
  const begun = performance.now()
  let next = 0
  const writer = async () => {
    while (next < writes) {
      const path = `files/f${next % 50}`
      next += 1
      await agent.call('files.write', { path, base: { kind: 'any' } }, { body: content })
    }
  }
  await Promise.all(Array.from({ length: parallel }, writer))
  return writes / ((performance.now() - begun) / 1000)
}

async function watcherStart(agent: AgentClient): Promise<number> {
  const begun = performance.now()
  const watch = agent.open('watch.start', {})
  for await (const message of watch.messages) if (message.kind === 'event') break
  const milliseconds = performance.now() - begun
  watch.cancel()
  await watch.result.catch(() => undefined)
  return milliseconds
}

/** Memory of the agent as the kernel counts it, in megabytes; shared pages are those of the Node binary. */
function memoryOf(pid: number): { resident: number; own: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  const kilobytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? Number.NaN)
  return { resident: round(kilobytes('VmRSS') / 1024, 1), own: round(kilobytes('RssAnon') / 1024, 1) }
}

/** The agent's process on the host: the youngest Node of the workspace's user. */
function hostPidOf(home: string): number {
  const user = statSync(home).uid
  const pids = execFileSync('ps', ['-u', String(user), '-o', 'pid=,args='], { encoding: 'utf8' })
  return Number(/^\s*(\d+) \/opt\/node\/bin\/node /m.exec(pids)?.[1])
}

try {
  const report = await sandboxed.selfTest()
  if (!report.passed) throw new Error('the sandbox does not pass its self-test here')
  const loadAverageBefore = round(loadavg()[0] ?? 0, 1)
  const started = await interleave(starts, {
    sandboxed: () => measureStart(sandboxed),
    plain: () => measureStart(plain),
  })

  const { agent, stop } = await open(sandboxed)
  const home = join(directory, 'sandboxed/workspaces/ws_bench/home')
  await new Promise((resolve) => setTimeout(resolve, 2000))
  const memory = process.getuid?.() === 0 ? memoryOf(hostPidOf(home)) : null
  const { usage } = { usage: null, ...(await sandboxed.status({ workspaceId: 'ws_bench' })) }

  const log = join(home, 'workspace/log')
  makeLog(log)
  const terminal = await interleave(rounds, {
    agent: () => terminalOfAgent(agent),
    'bare node-pty': () => terminalOfNodePty(log),
  })

  const written = await interleave(rounds, {
    'agent, one after the other': () => agentWrites(agent, 1),
    'agent, 16 at once': () => agentWrites(agent, 16),
    'bare system calls, one after the other': async () => bareWrites(join(directory, 'bare')),
  })

  for (let index = 0; index < treeDirectories; index += 1) {
    const path = join(home, 'workspace/tree', `d${index % 40}`, `e${index}`)
    mkdirSync(path, { recursive: true })
    for (let file = 0; file < treeFiles / treeDirectories; file += 1)
      writeFileSync(join(path, `f${file}`), 'x')
  }
  const watching: number[] = []
  for (let turn = 0; turn < rounds; turn += 1) watching.push(await watcherStart(agent))
  await stop()

  writeResults('agent', {
    loadAverageBefore,
    agentReadyMs: Object.fromEntries(
      Object.entries(started).map(([name, all]) => [name, summarise(all.map(({ readyMs }) => readyMs))]),
    ),
    firstTerminalByteMs: Object.fromEntries(
      Object.entries(started).map(([name, all]) => [
        name,
        summarise(all.map(({ firstByteMs }) => firstByteMs)),
      ]),
    ),
    terminal: Object.fromEntries(
      Object.entries(terminal).map(([name, all]) => [
        name,
        {
          megabytesPerSecond: round(median(all.map((each) => each.megabytesPerSecond)), 1),
          frames: median(all.map((each) => each.frames)),
        },
      ]),
    ),
    durableWritesPerSecond: {
      bytes: fileBytes,
      ...Object.fromEntries(Object.entries(written).map(([name, all]) => [name, round(median(all), 0)])),
    },
    watcherStartMs: { directories: treeDirectories, files: treeFiles, ...summarise(watching) },
    idleMegabytes: {
      agent: memory,
      cgroup: usage?.memoryBytes == null ? null : round(usage.memoryBytes / 2 ** 20, 1),
    },
  })
} finally {
  rmSync(directory, { recursive: true, force: true })
}
