import { AppError } from '../../base/app-error.ts'
import type { CallEntry } from './ledger.ts'

/** Puts what many calls have to write into few statements. */
export interface EntryWriter extends AsyncDisposable {
  add(entry: CallEntry): void
  /** Resolves when what was added before is written, or the database did not answer. */
  flushed(): Promise<void>
}

/** Pause between statements, and after the database has not answered, in milliseconds. */
const pauseMilliseconds = 100
const retryMilliseconds = 1_000

/** Entries that wait for a database that does not answer: some 50 MB. */
const maxWaiting = 100_000

/** How often a database that does not answer is asked when the server stops. */
const triesAtTheEnd = 3

/**
 * Group commit of entries. A statement that the database refuses is taken apart, so that one bad entry is not the others'
 * loss; while the database does not answer, entries wait.
 */
export function createEntryWriter(dependencies: {
  write: (entries: readonly CallEntry[]) => Promise<void>
  logger: { error(fields: object, message: string): void }
}): EntryWriter {
  const { write, logger } = dependencies
  let waiting: CallEntry[] = []
  let failures = 0
  let closing = false
  let wake = (): void => undefined
  let working: Promise<void> | undefined
  let readers: (() => void)[] = []

  function letRead(waited: readonly (() => void)[]): void {
    for (const read of waited) read()
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      await pause()
      const batch = waiting
      const waited = readers
      waiting = []
      readers = []
      const isWritten = await written(batch)
      letRead(waited)
      if (isWritten) {
        failures = 0
        continue
      }
      failures += 1
      const room = Math.max(0, maxWaiting - waiting.length)
      if ((closing && failures > triesAtTheEnd) || room < batch.length) {
        logger.error({ entries: batch.length - room }, 'usage is lost: the database does not answer')
      }
      if (closing && failures > triesAtTheEnd) return
      waiting = [...(room === 0 ? [] : batch.slice(-room)), ...waiting]
    }
  }

  /** False: the database does not answer. */
  async function written(batch: readonly CallEntry[]): Promise<boolean> {
    try {
      await write(batch)
      return true
    } catch (error) {
      if (error instanceof AppError) {
        logger.error({ err: error, entries: batch.length }, 'the database does not take the usage')
        return false
      }
      const [entry] = batch
      if (batch.length === 1) logger.error({ err: error, entry }, 'usage that the database refuses is lost')
      else for (const one of batch) await written([one])
      return true
    }
  }

  function pause(): Promise<void> {
    if (closing && failures === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, failures === 0 ? pauseMilliseconds : retryMilliseconds)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  return {
    add(entry) {
      waiting.push(entry)
      working ??= writeAll().finally(() => {
        working = undefined
        letRead(readers.splice(0))
      })
    },
    flushed() {
      if (working === undefined) return Promise.resolve()
      return new Promise((resolve) => {
        readers.push(resolve)
        if (failures === 0) wake()
      })
    },
    async [Symbol.asyncDispose]() {
      closing = true
      wake()
      await working
    },
  }
}
