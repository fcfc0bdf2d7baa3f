import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { round, summarise, writeResults } from './harness.ts'

/**
 * From the start of the process to the first 200 of `/api/health/ready`, and to the exit after SIGTERM.
 * `first`: an empty data directory, made from the cached template; `second`: the same directory again.
 */
const rounds = 10
const main = join(import.meta.dirname, '../packages/server/src/main.ts')

interface Run {
  readyMilliseconds: number
  stopMilliseconds: number
  residentMegabytes: number
}

const first: Run[] = []
const second: Run[] = []
for (let index = 0; index <= rounds; index += 1) {
  const directory = await mkdtemp(join(tmpdir(), 'atelier-start-'))
  try {
    const runs = [await startAndStop(directory), await startAndStop(directory)] as const
    // The first round may have to make the template; it warms the disk cache for all others.
    if (index === 0) continue
    first.push(runs[0])
    second.push(runs[1])
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

writeResults('start-up', { unit: 'milliseconds', first: describe(first), second: describe(second) })

function describe(runs: readonly Run[]) {
  return {
    ready: summarise(runs.map((run) => run.readyMilliseconds)),
    stop: summarise(runs.map((run) => run.stopMilliseconds)),
    residentMegabytes: summarise(runs.map((run) => run.residentMegabytes)),
  }
}

async function startAndStop(directory: string): Promise<Run> {
  const port = await freePort()
  const started = performance.now()
  const child = spawn(process.execPath, [main], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      ATELIER_DATA_DIR: directory,
      LOG_LEVEL: 'error',
      LOCAL_MODEL_DISCOVERY: 'off',
    },
  })
  const exited = once(child, 'exit')
  await untilReady(`http://127.0.0.1:${port}/api/health/ready`, child)
  const readyMilliseconds = performance.now() - started
  const residentMegabytes = await residentOf(child.pid as number)
  const stopping = performance.now()
  child.kill('SIGTERM')
  await exited
  return {
    readyMilliseconds: round(readyMilliseconds, 0),
    stopMilliseconds: round(performance.now() - stopping, 0),
    residentMegabytes,
  }
}

async function untilReady(url: string, child: { exitCode: number | null }): Promise<void> {
  const deadline = performance.now() + 60_000
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    const response = await fetch(url).catch(() => undefined)
    if (response?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('the server was not ready within a minute')
}

async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
