import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { ConnectionError, sqlState } from './database-errors.ts'
import type { PgliteRequest, PgliteResponse, PgliteWorkerData } from './pglite-messages.ts'

/** Longest start, in milliseconds: a first initialisation takes 4 s, recovery reads at most `max_wal_size` of log. */
const openBudgetMilliseconds = 120_000
/** Longest clean stop, in milliseconds: it writes out what is in memory. Past it the next start recovers from the log. */
const closeBudgetMilliseconds = 30_000

/** One life of the engine's thread, from opening the directory to its end. */
export interface PgliteThread {
  /** Resolves with the reason, whatever it is, when the thread is gone and the directory may be opened again. */
  readonly ended: Promise<Error>
  /** Whether it still takes requests. */
  running(): boolean
  /** Sends wire protocol messages that the engine answers; rejects with why the thread ended meanwhile. */
  request(kind: 'startup' | 'query', bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>
  /** Ends the thread at once. The directory is left as a crash would leave it: the next start recovers. */
  end(reason: Error): Promise<void>
  /** Lets the engine write everything out and end. */
  close(): Promise<void>
}

/** PostgreSQL's own code for a statement that was stopped. */
export class StatementTimeoutError extends Error {
  override name = 'StatementTimeoutError'
  readonly code = sqlState.queryCanceled
}

interface Pending {
  kind: 'startup' | 'query'
  resolve(bytes: Uint8Array<ArrayBuffer>): void
  reject(error: Error): void
}

/** Starts a thread and resolves when its engine is open. Rejects with ConnectionError and the engine's own words. */
export async function openPgliteThread(options: {
  clusterDirectory: string
  /** whether what is acknowledged outlasts a power cut */
  durable: boolean
  /** milliseconds one request may run, asked when it starts */
  statementLimit: () => number
}): Promise<PgliteThread> {
  const { clusterDirectory, durable } = options
  const workerData: PgliteWorkerData = { clusterDirectory, durable }
  // V8 would optimise the engine's expression interpreter, one function of 100 kB, at every start: a second of a core and
  // 600 MB for it. Its baseline code makes indexing about a tenth slower.
  for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag)
  const worker = new Worker(new URL('./pglite-worker.ts', import.meta.url), { workerData })
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<Error>()
  const closed = Promise.withResolvers<void>()
  /** in the order in which the worker answers; the first one is running */
  const pending: Pending[] = []
  let over = false
  let watchdog: NodeJS.Timeout | undefined

  const end = async (reason: Error): Promise<void> => {
    clearTimeout(watchdog)
    if (over) return void (await ended.promise)
    over = true
    // Nobody learns of the end before it is one: two engines on one directory destroy it.
    await worker.terminate()
    opened.reject(reason)
    for (const request of pending.splice(0)) request.reject(reason)
    ended.resolve(reason)
  }
  const watch = (milliseconds: number, problem: (milliseconds: number) => Error) => {
    clearTimeout(watchdog)
    if (over) return
    watchdog = setTimeout(() => void end(problem(milliseconds)), milliseconds)
  }
  const watchFirst = () => {
    // Beginning a session is no statement of anybody.
    if (pending[0]?.kind === 'startup') watch(openBudgetMilliseconds, openTimeout)
    else if (pending[0]) watch(options.statementLimit(), statementTimeout)
  }
  const respond = (response: PgliteResponse): void => {
    if (over) return
    clearTimeout(watchdog)
    if (response.type === 'opened') opened.resolve()
    else if (response.type === 'closed') closed.resolve()
    else if (response.type === 'broken') void end(new ConnectionError(response.reason))
    else pending.shift()?.resolve(response.bytes)
    watchFirst()
  }
  worker.on('message', respond)
  worker.on('error', (error) => void end(new ConnectionError(error.message, { cause: error })))
  worker.on('exit', (code) => void end(new ConnectionError(`the engine's thread exited with ${code}`)))

  watch(openBudgetMilliseconds, openTimeout)
  await opened.promise
  const send = (request: PgliteRequest) => worker.postMessage(request)
  return {
    ended: ended.promise,
    running: () => !over,
    request: async (kind, bytes) => {
      if (over) throw await ended.promise
      const answer = Promise.withResolvers<Uint8Array<ArrayBuffer>>()
      pending.push({ kind, resolve: answer.resolve, reject: answer.reject })
      if (pending.length === 1) watchFirst()
      send({ type: 'messages', kind, bytes })
      return await answer.promise
    },
    end,
    close: async () => {
      if (over) return
      watch(closeBudgetMilliseconds, closeTimeout)
      send({ type: 'close' })
      await Promise.race([closed.promise, ended.promise])
      await end(new ConnectionError('the database is closed'))
    },
  }
}

function statementTimeout(milliseconds: number): Error {
  return new StatementTimeoutError(
    `the statement ran longer than ${milliseconds} ms and was stopped; the embedded engine starts again`,
  )
}

function openTimeout(milliseconds: number): Error {
  return new ConnectionError(`the engine did not open within ${milliseconds} ms`)
}

function closeTimeout(milliseconds: number): Error {
  return new ConnectionError(`the engine did not close within ${milliseconds} ms`)
}
