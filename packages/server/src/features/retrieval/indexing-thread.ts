import { Worker } from 'node:worker_threads'
import type { IndexedChunk, IndexingRequest, IndexingResponse } from './indexing-messages.ts'
import type { SkipReason } from './skip-reason.ts'

/** One file takes milliseconds; a parse ends by itself after 1.5 s. */
const fileBudgetMilliseconds = 20_000
/** The thread holds up to 100 MB of grammars, so it ends when nothing came for this long. */
const idleMilliseconds = 60_000

export type IndexedText =
  | { kind: 'indexed'; chunks: IndexedChunk[] }
  | { kind: 'skipped'; reason: SkipReason }

/** Cuts texts and counts their terms beside the event loop, one at a time, on a thread that starts with the first. */
export interface IndexingThread extends AsyncDisposable {
  /** Rejects when the file could not be indexed: the thread crashed or ran out of time, or was closed. */
  index(text: string, language: string | null): Promise<IndexedText>
}

interface Pending {
  request: IndexingRequest
  resolve(indexed: IndexedText): void
  reject(error: Error): void
}

export function createIndexingThread(
  options: {
    /** the thread's program, unless told our own */
    worker?: URL
  } = {},
): IndexingThread {
  const program = options.worker ?? new URL('./indexing-worker.ts', import.meta.url)
  const queue: Pending[] = []
  let worker: Worker | undefined
  let watchdog: NodeJS.Timeout | undefined
  let nextId = 1
  let closed = false

  /** Starts over with the next file: the thread is gone or must not be used again. */
  const retire = async () => {
    const retired = worker
    worker = undefined
    clearTimeout(watchdog)
    retired?.removeAllListeners()
    await retired?.terminate()
  }
  const fail = (error: Error) => {
    queue.shift()?.reject(error)
    void retire()
    advance()
  }
  const start = (): Worker => {
    const started = new Worker(program)
    // A server that is done with everything else must be able to end.
    started.unref()
    started.on('message', settle)
    started.on('error', (error) => fail(new Error('indexing crashed', { cause: error })))
    started.on('exit', (code) => fail(new Error(`the indexing thread ended with ${code}`)))
    return started
  }
  /** Sends the first file of the queue; the next one waits until it is answered. */
  const advance = () => {
    clearTimeout(watchdog)
    const next = queue[0]
    if (next === undefined) {
      watchdog = setTimeout(() => void retire(), idleMilliseconds).unref()
      return
    }
    worker ??= start()
    watchdog = setTimeout(
      () => fail(new Error(`indexing took longer than ${fileBudgetMilliseconds} ms`)),
      fileBudgetMilliseconds,
    )
    worker.postMessage(next.request)
  }
  const settle = (response: IndexingResponse) => {
    const done = queue[0]
    if (done?.request.id !== response.id) return
    queue.shift()
    if (response.type === 'failed') done.reject(new Error(response.message))
    else if (response.type === 'skipped') done.resolve({ kind: 'skipped', reason: response.reason })
    else done.resolve({ kind: 'indexed', chunks: response.chunks })
    if (response.type === 'indexed' && response.thread === 'damaged') void retire()
    advance()
  }

  return {
    index: (text, language) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new Error('indexing is closed'))
        queue.push({ request: { id: nextId, text, language }, resolve, reject })
        nextId += 1
        if (queue.length === 1) advance()
      }),
    async [Symbol.asyncDispose]() {
      closed = true
      const error = new Error('indexing is closed')
      for (const pending of queue.splice(0)) pending.reject(error)
      await retire()
    },
  }
}
