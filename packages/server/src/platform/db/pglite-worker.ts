import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { vector } from '@electric-sql/pglite-pgvector'
import { DurableFileSystem, durableStartParameters } from './pglite-file-system.ts'
import type { PgliteRequest, PgliteResponse, PgliteWorkerData } from './pglite-messages.ts'

/**
 * The thread of the embedded engine: bytes of the PostgreSQL wire protocol in, bytes out, one request after another.
 * It is a thread because the engine blocks its own for as long as a statement runs.
 */

/** Most lines of the engine's own log that an error repeats. */
const reportedLogLines = 6

const settings = [
  // The default of 128 MB is taken at once; the pages are in the system's cache anyway.
  'shared_buffers=32MB',
  // Bounds the log that a start after a crash must read. The default is 1 GB.
  'max_wal_size=128MB',
]

const fileErrors = new Map([
  [2, 'permission denied'],
  [19, 'disk quota exceeded'],
  [29, 'input/output error'],
  [51, 'no space left on device'],
  [69, 'read-only file system'],
])

const log: string[] = []
const port = parentPort
if (!port) throw new Error('pglite-worker.ts runs as a worker thread only')

try {
  const { clusterDirectory, durable } = workerData as PgliteWorkerData
  const parameters = [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])]
  const pglite = await PGlite.create({
    fs: durable ? new DurableFileSystem(clusterDirectory) : new NodeFS(clusterDirectory),
    extensions: { vector },
    startParams: durable ? durableStartParameters(parameters) : parameters,
    onStderr: (line) => {
      log.push(line)
      if (log.length > reportedLogLines) log.shift()
      return false
    },
  })
  let last = Promise.resolve()
  port.on('message', (request: PgliteRequest) => {
    last = last.then(() => serve(pglite, request))
  })
  send({ type: 'opened' })
} catch (error) {
  breakOff(error)
}

async function serve(pglite: PGlite, request: PgliteRequest): Promise<void> {
  try {
    if (request.type === 'close') {
      await pglite.close()
      send({ type: 'closed' })
      return
    }
    if (request.kind === 'startup') await resetSession(pglite)
    const bytes = await execute(pglite, request.bytes)
    send({ type: 'answer', bytes }, [bytes.buffer])
  } catch (error) {
    breakOff(error)
  }
}

/** The engine has one session for good; what an earlier connection left in it must not reach the next. */
async function resetSession(pglite: PGlite): Promise<void> {
  if (pglite.isInTransaction()) await execute(pglite, simpleQuery('rollback'))
  await execute(pglite, simpleQuery('discard all'))
}

async function execute(pglite: PGlite, messages: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  await pglite.execProtocolRawStream(messages, {
    syncToFs: false,
    // The engine reuses this memory as soon as we return.
    onRawData: (bytes) => parts.push(bytes.slice()),
  })
  const answer = join(parts)
  // The engine swallows its own crashes; all they leave is an answer that lacks its end.
  if (!endsReady(answer)) throw new Error('the engine stopped in the middle of a statement')
  return answer
}

/** Whether the bytes end with ReadyForQuery: 'Z', length 5, transaction status. */
function endsReady(bytes: Uint8Array): boolean {
  const start = bytes.length - 6
  return start >= 0 && bytes[start] === 0x5a && bytes[start + 4] === 5
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    result.set(part, offset)
    offset += part.length
  }
  return result
}

/** Query: 'Q', length, text, NUL. */
function simpleQuery(sql: string): Uint8Array {
  const text = Buffer.from(`${sql}\0`)
  const header = Buffer.alloc(5)
  header.write('Q')
  header.writeUInt32BE(text.length + 4, 1)
  return Buffer.concat([header, text])
}

function breakOff(error: unknown): void {
  send({ type: 'broken', reason: [describe(error), ...log].join('\n') })
}

/** Emscripten throws plain objects for failed file operations, with WASI's error numbers. */
function describe(error: unknown): string {
  if (error instanceof Error) return error.message
  const { errno } = error as { errno?: number }
  return fileErrors.get(errno ?? 0) ?? `the engine failed: ${JSON.stringify(error)}`
}

function send(response: PgliteResponse, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(response, transfer)
}
