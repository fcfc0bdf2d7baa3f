import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ListenOptions, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ProbeAnswer, type ProbeRequest } from '@atelier/contract/agent-probe'
import type { Session } from './driven-runtime.ts'
import { insidePaths } from './sandbox-arguments.ts'
import type {
  Isolation,
  ProbeResult,
  SelfTestReport,
  WorkspaceLimits,
  WorkspaceSpec,
} from './session-runtime.ts'
import type { WorkspaceDirectories } from './workspace-directories.ts'

/** Small, so that exceeding them takes no time; the memory is what Node itself needs and a little more. */
const testLimits: WorkspaceLimits = {
  memoryBytes: 192 * 1024 * 1024,
  processes: 64,
  fileBytes: 1024 * 1024,
  openFiles: 256,
  tmpBytes: 1024 * 1024,
  cpus: 1,
}

const testMs = 30_000
/** An answer above this is not one. */
const maxAnswerBytes = 64 * 1024

export interface SelfTestDeps {
  isolation: Isolation
  directories: WorkspaceDirectories
  launch(spec: WorkspaceSpec, command: string[]): Promise<Session>
  /** what is known beforehand to be missing */
  missing: string[]
  canEnforce: readonly ('memory' | 'pids' | 'cpu')[]
  /** added to the probe's arguments */
  transport?: string[]
}

/**
 * Attacks a sandbox started like any workspace's: the probe tries what must be refused, against things that are really
 * there on the host. A sandbox that does not start, or a probe that does not answer, has not passed.
 */
export async function runSelfTest(deps: SelfTestDeps): Promise<SelfTestReport> {
  const suffix = randomBytes(6).toString('hex')
  const ids = { attacker: `self-test-${suffix}`, victim: `self-test-${suffix}-other` }
  try {
    await using bait = await layBait(deps.directories, ids.victim)
    const probes = await attack(deps, ids.attacker, bait)
    return report(deps, probes)
  } catch (error) {
    const detail = error instanceof Error ? error.message : 'unknown failure'
    return report(deps, [
      { name: 'sandbox', kind: 'isolation', held: false, detail: `it cannot be started: ${detail}` },
    ])
  } finally {
    for (const id of Object.values(ids)) await deps.directories.remove(id).catch(() => undefined)
  }
}

interface Bait extends AsyncDisposable {
  hostPaths: string[]
  hostPort: number
  abstractSocket: string
  secret: string
  reached(): string[]
}

/** Things on the host that an escape would reach: files, another workspace's file, a port, a socket, an environment. */
async function layBait(directories: WorkspaceDirectories, victim: string): Promise<Bait> {
  const directory = mkdtempSync(join(tmpdir(), 'atelier-bait-'))
  const file = join(directory, 'secret')
  writeFileSync(file, 'secret')
  const other = join((await directories.prepare(victim)).home, 'secret')
  writeFileSync(other, 'secret')
  const reached: string[] = []
  const abstractSocket = `atelier-bait-${randomBytes(8).toString('hex')}`
  const port = await listen({ host: '127.0.0.1', port: 0 }, () => reached.push('port'))
  const socket = await listen({ path: `\0${abstractSocket}` }, () => reached.push('abstract socket'))
  const address = port.address()
  return {
    hostPaths: [directory, file, other],
    hostPort: typeof address === 'object' && address !== null ? address.port : 0,
    abstractSocket,
    secret: `bait-${randomBytes(8).toString('hex')}`,
    reached: () => reached,
    async [Symbol.asyncDispose]() {
      port.close()
      socket.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function listen(options: ListenOptions, onConnection: () => void): Promise<Server> {
  const server = createServer((socket) => {
    onConnection()
    socket.destroy()
  })
  server.listen(options)
  await once(server, 'listening')
  return server
}

async function attack(deps: SelfTestDeps, attacker: string, bait: Bait): Promise<ProbeResult[]> {
  const request: ProbeRequest = {
    hostPaths: bait.hostPaths,
    hostPort: bait.hostPort,
    abstractSocket: bait.abstractSocket,
    secret: bait.secret,
    limits: {
      processes: testLimits.processes,
      fileBytes: testLimits.fileBytes,
      memoryBytes: deps.canEnforce.includes('memory') ? testLimits.memoryBytes : null,
    },
    scratch: insidePaths.home,
  }
  const variable = 'ATELIER_SELF_TEST_BAIT'
  process.env[variable] = bait.secret
  try {
    const command = [
      insidePaths.node,
      `${insidePaths.agent}/probe.mjs`,
      JSON.stringify(request),
      ...(deps.transport ?? []),
    ]
    const session = await deps.launch({ workspaceId: attacker, limits: testLimits, egress: null }, command)
    const probes = await answerOf(session)
    const reached = bait.reached()
    return [
      ...probes,
      {
        name: 'bait',
        kind: 'isolation',
        held: reached.length === 0,
        detail: reached.join(', ') || 'untouched',
      },
    ]
  } finally {
    delete process.env[variable]
  }
}

async function answerOf(session: Session): Promise<ProbeResult[]> {
  const timer = setTimeout(() => session.kill(), testMs)
  try {
    const text = await readAll(session.stream)
    session.stream.end()
    const reason = await session.ended
    if (text === '') throw new Error(`the probe said nothing: ${reason}`)
    return ProbeAnswer.parse(JSON.parse(text))
  } finally {
    clearTimeout(timer)
    session.kill()
  }
}

async function readAll(stream: Readable): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of stream) {
    if (!Buffer.isBuffer(part)) continue
    size += part.length
    if (size > maxAnswerBytes) throw new Error('the probe says too much')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function report(deps: SelfTestDeps, probes: ProbeResult[]): SelfTestReport {
  const broken = probes.filter(({ kind, held }) => kind === 'isolation' && !held)
  const limits = probes.filter(({ kind, held }) => kind === 'limit' && held).map(({ name }) => name)
  const loose = probes
    .filter(({ kind, held }) => kind === 'limit' && !held)
    .map(({ name, detail }) => `a limit on ${name}: ${detail}`)
  return {
    passed: broken.length === 0,
    isolation: deps.isolation,
    limits,
    missing: [...deps.missing, ...loose],
    probes,
  }
}
