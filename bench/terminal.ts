import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@atelier/client'
import {
  closeTerminal,
  createTerminal,
  createWorkspace,
  decodeTerminalServerMessage,
  encodeTerminalClientMessage,
  startWorkspace,
  terminalFlow,
  terminalSocket,
} from '@atelier/contract'
import { signUpPerson } from '@atelier/testkit'
import { WebSocket } from 'ws'
import { createScreenModel } from '../packages/server/src/features/terminal/screen-model.ts'
import { interleave, median, round, summarise, writeResults } from './harness.ts'
import { startChild } from './terminal/child-server.ts'

/**
 * Terminals as a page has them, through the whole platform (sign-in, roles, sandbox, agent, screen, acknowledgements),
 * beside a node-pty and a WebSocket with nothing between them. Both servers are processes of their own.
 */
const rounds = Number(process.env.ROUNDS ?? 7)
const opens = Number(process.env.OPENS ?? 30)
const logMebibytes = Number(process.env.LOG_MEBIBYTES ?? 32)
const lines = 5_000

/** A coloured log, as builds print them. */
const line =
  '\\033[32m2026-11-20 12:00:00\\033[0m \\033[1minfo\\033[0m compiled module number of many in a short time'
const makeLog = `yes "$(printf '${line}')" | head -c ${logMebibytes * 1024 * 1024} > log`
/** Waits for a key, so that the clock starts with a viewer in place. */
const printLog = ['sh', '-c', `[ -e log ] || ${makeLog}; printf ready; read go; exec cat log`]

// Declared first, removed last: the servers write into it until they have stopped.
await using scratch = {
  directory: await mkdtemp(join(tmpdir(), 'atelier-bench-terminal-')),
  [Symbol.asyncDispose]: () => rm(scratch.directory, { recursive: true, force: true }),
}
const { directory } = scratch
await using server = await startChild([join(import.meta.dirname, '../packages/server/src/main.ts')], {
  ATELIER_DATA_DIR: join(directory, 'data'),
  LOG_LEVEL: 'error',
  PORT: '0',
  RATE_LIMIT_STANDARD: '100000',
})
await using bare = await startChild([
  join(import.meta.dirname, 'terminal/bare-server.ts'),
  directory,
  ...printLog,
])
const person = await signUpPerson(server.url)
const api = createClient({ baseUrl: server.url, headers: person.headers })
const { id: workspaceId } = await api.call(createWorkspace, { body: { name: 'Bench' } })
await api.call(startWorkspace, { params: { workspaceId } })

interface Throughput {
  megabytesPerSecond: number
  frames: number
  bytes: number
}

const open = (command?: string[]) =>
  api.call(createTerminal, { body: { workspaceId, ...(command ? { command } : {}) } })
const connect = (id: string) =>
  new WebSocket(`${server.url.replace('http', 'ws')}${terminalSocket.path}?sessionId=${id}`, {
    headers: person.headers,
  })

async function throughputOfAtelier(): Promise<Throughput> {
  const { id } = await open(printLog)
  const socket = connect(id)
  const clock = stopwatch()
  let unacknowledged = 0
  socket.on('message', (data: Buffer) => {
    const message = decodeTerminalServerMessage(data)
    if (message.type !== 'data' && message.type !== 'snapshot') return
    if (clock.take(message.bytes))
      socket.send(encodeTerminalClientMessage({ type: 'input', bytes: Buffer.from('\r') }))
    unacknowledged += message.bytes.length
    if (unacknowledged < terminalFlow.ackBytes) return
    socket.send(encodeTerminalClientMessage({ type: 'ack', bytes: unacknowledged }))
    unacknowledged = 0
  })
  await closed(socket)
  await api.call(closeTerminal, { query: { id } })
  return clock.result()
}

async function throughputOfBare(): Promise<Throughput> {
  const socket = new WebSocket(bare.url.replace('http', 'ws'))
  const clock = stopwatch()
  socket.on('message', (data: Buffer) => {
    if (clock.take(data)) socket.send('\r')
  })
  await closed(socket)
  return clock.result()
}

/** Counts from the answer to `ready` on; `take` is true for the message that says it. */
function stopwatch(): { take(bytes: Uint8Array): boolean; result(): Throughput } {
  let said = ''
  let begun: number | undefined
  let ended = 0
  let bytes = 0
  let frames = 0
  return {
    take(part) {
      if (begun === undefined) {
        said += Buffer.from(part).toString()
        if (!said.includes('ready')) return false
        begun = performance.now()
        return true
      }
      bytes += part.length
      frames += 1
      ended = performance.now()
      return false
    },
    result: () => ({ bytes, frames, megabytesPerSecond: bytes / 1e3 / (ended - (begun ?? ended)) }),
  }
}

/** From the request to the first byte of the shell's prompt, in a workspace that runs. */
async function firstByteOfAtelier(): Promise<number> {
  const begun = performance.now()
  const { id } = await open(['sh', '-c', 'printf x; read go'])
  const socket = connect(id)
  await new Promise<void>((resolve) =>
    socket.on('message', (data: Buffer) => decodeTerminalServerMessage(data).type === 'data' && resolve()),
  )
  const took = performance.now() - begun
  socket.close()
  await api.call(closeTerminal, { query: { id } })
  return took
}

async function firstByteOfBare(): Promise<number> {
  const begun = performance.now()
  const socket = new WebSocket(bare.url.replace('http', 'ws'))
  await new Promise((resolve) => socket.once('message', resolve))
  const took = performance.now() - begun
  socket.send('\r')
  socket.terminate()
  return took
}

/** A page that comes back to a screen with 5,000 lines above it: until its emulator shows them. */
async function reattach(id: string): Promise<{ milliseconds: number; bytes: number }> {
  using model = createScreenModel({ cols: 80, rows: 24, onReply: () => undefined, onTitle: () => undefined })
  const begun = performance.now()
  const socket = connect(id)
  const bytes = await new Promise<number>((resolve) =>
    socket.on('message', (data: Buffer) => {
      const message = decodeTerminalServerMessage(data)
      if (message.type === 'snapshot') model.write(message.bytes, () => resolve(message.bytes.length))
    }),
  )
  const milliseconds = performance.now() - begun
  socket.close()
  await closed(socket)
  return { milliseconds, bytes }
}

function closed(socket: WebSocket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

/** A terminal that has printed more than is kept as bytes, so that whoever comes gets a snapshot. */
async function terminalWithHistory(): Promise<string> {
  const { id } = await open([
    'sh',
    '-c',
    `yes "$(printf '${line}')" | head -n ${lines * 3}; printf ready; read go`,
  ])
  const socket = connect(id)
  let said = ''
  await new Promise<void>((resolve) =>
    socket.on('message', (data: Buffer) => {
      const message = decodeTerminalServerMessage(data)
      if (message.type !== 'data' && message.type !== 'snapshot') return
      socket.send(encodeTerminalClientMessage({ type: 'ack', bytes: message.bytes.length }))
      said = (said + Buffer.from(message.bytes).toString()).slice(-100)
      if (said.includes('ready')) resolve()
    }),
  )
  socket.close()
  return id
}

await throughputOfAtelier()
await throughputOfBare()
const throughput = await interleave(rounds, { atelier: throughputOfAtelier, bare: throughputOfBare })
const firstByte = await interleave(opens, { atelier: firstByteOfAtelier, bare: firstByteOfBare })
const id = await terminalWithHistory()
const reattached = await interleave(rounds * 3, { snapshot: () => reattach(id) })
const summary = (runs: Throughput[] = []) => ({
  megabytesPerSecond: round(median(runs.map((run) => run.megabytesPerSecond)), 1),
  frames: median(runs.map(({ frames }) => frames)),
  megabytes: round(median(runs.map(({ bytes }) => bytes)) / 1e6, 1),
})
writeResults('terminal', {
  throughput: { rounds, atelier: summary(throughput.atelier), bareNodePty: summary(throughput.bare) },
  firstByteMilliseconds: {
    atelierInRunningWorkspace: summarise(firstByte.atelier ?? []),
    bareNodePty: summarise(firstByte.bare ?? []),
  },
  reattachMilliseconds: {
    lines,
    ...summarise((reattached.snapshot ?? []).map(({ milliseconds }) => milliseconds)),
    snapshotBytes: median((reattached.snapshot ?? []).map(({ bytes }) => bytes)),
  },
})
