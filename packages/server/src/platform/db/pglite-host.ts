import { ConnectionError } from './database-errors.ts'
import type { DatabaseLogger } from './database-logger.ts'
import { openPgliteThread, type PgliteThread } from './pglite-thread.ts'

/** Shortest time between two attempts to open, in milliseconds, so that a directory beyond repair does not eat a core. */
const reopenIntervalMilliseconds = 1_000

/**
 * Keeps the engine's thread alive: when one ends, the next connection starts another on the same directory. Disposing
 * closes the directory cleanly.
 */
export interface PgliteHost extends AsyncDisposable {
  /** The running thread, opened first if need be. Rejects with ConnectionError. */
  thread(): Promise<PgliteThread>
  /** Sets how long one request may run from now on, in milliseconds. */
  limitStatements(milliseconds: number): void
  /** Ends the engine at once and for good: the directory is not ours any more. */
  abandon(reason: Error): Promise<void>
}

export function createPgliteHost(options: {
  clusterDirectory: string
  durable: boolean
  statementTimeoutMilliseconds: number
  logger: DatabaseLogger
}): PgliteHost {
  const { clusterDirectory, durable, logger } = options
  let limit = options.statementTimeoutMilliseconds
  let current: Promise<PgliteThread> | undefined
  let failure: { error: Error; at: number } | undefined
  let closed: Error | undefined

  const open = async (): Promise<PgliteThread> => {
    try {
      const thread = await openPgliteThread({ clusterDirectory, durable, statementLimit: () => limit })
      failure = undefined
      void thread.ended.then((error) => {
        current = undefined
        if (!closed) logger.error({ err: error }, 'the embedded database stopped; it is opened again')
      })
      return thread
    } catch (error) {
      current = undefined
      failure = { error: error as Error, at: performance.now() }
      throw error
    }
  }
  return {
    thread: async () => {
      for (;;) {
        if (closed) throw closed
        if (failure && performance.now() - failure.at < reopenIntervalMilliseconds) throw failure.error
        current ??= open()
        const thread = await current
        if (thread.running()) return thread
        await thread.ended
      }
    },
    limitStatements: (milliseconds) => {
      limit = milliseconds
    },
    abandon: async (reason) => {
      closed ??= reason
      await (await running(current))?.end(reason)
    },
    [Symbol.asyncDispose]: async () => {
      closed ??= new ConnectionError('the database is closed')
      await (await running(current))?.close()
    },
  }
}

/** The thread, or nothing if it did not open. */
async function running(current: Promise<PgliteThread> | undefined): Promise<PgliteThread | undefined> {
  return await current?.catch(() => undefined)
}
