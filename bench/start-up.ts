import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { round, summarise, writeResults } from './harness.ts'

/**
 * What `npm start` runs, once everything is installed and built: from the start of the process to the first 200 of
 * `/api/health/ready`, the processor time until then, memory at rest and at its peak, and from SIGTERM to the exit.
 * `first`: an empty data directory, made from the cached template; `second`: the same directory again.
 */
const rounds = 10
/** A second after a start nothing is under way any more. */
const restMilliseconds = 1_000
const start = join(import.meta.dirname, '../scripts/start.mjs')

interface Run {
  readyMilliseconds: number
  processorMilliseconds: number
  stopMilliseconds: number
  residentMegabytes: number
  peakMegabytes: number
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
    processor: summarise(runs.map((run) => run.processorMilliseconds)),
    stop: summarise(runs.map((run) => run.stopMilliseconds)),
    residentMegabytes: summarise(runs.map((run) => run.residentMegabytes)),
    peakMegabytes: summarise(runs.map((run) => run.peakMegabytes)),
  }
}

async function startAndStop(directory: string): Promise<Run> {
  const port = await freePort()
  const started = performance.now()
  const child = spawn(process.execPath, [start], {
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
  const processorMilliseconds = await processorTimeOf(child.pid as number)
  await sleep(restMilliseconds)
  const memory = await memoryOf(child.pid as number)
  const stopping = performance.now()
  child.kill('SIGTERM')
  await exited
  return {
    readyMilliseconds: round(readyMilliseconds, 0),
    processorMilliseconds,
    stopMilliseconds: round(performance.now() - stopping, 0),
    ...memory,
  }
}

async function untilReady(url: string, child: { exitCode: number | null }): Promise<void> {
  const deadline = performance.now() + 60_000
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    const response = await fetch(url).catch(() => undefined)
    if (response?.ok) return
    await sleep(10)
  }
  throw new Error('the server was not ready within a minute')
}

async function memoryOf(pid: number): Promise<Pick<Run, 'residentMegabytes' | 'peakMegabytes'>> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string) =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024)
  return { residentMegabytes: megabytes('VmRSS'), peakMegabytes: megabytes('VmHWM') }
}

/** Of all its threads, user and system; the kernel counts in hundredths of a second. */
async function processorTimeOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
