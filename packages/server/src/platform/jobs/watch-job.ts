import type { Job } from '@atelier/contract'
import type { JobSignals } from './job-signals.ts'
import { hasEnded, type JobRow, toJob } from './job-store.ts'

/**
 * The job now and at each change, until it has ended, is deleted, or `signal` aborts. A reader that is slower than the
 * changes sees the latest, never a queue of old ones.
 */
export async function* watchJob(options: {
  jobId: string
  signals: JobSignals
  read(): Promise<JobRow | undefined>
  /** how often the database is asked, for what other nodes do, in milliseconds */
  pollMilliseconds: number
  signal: AbortSignal
}): AsyncGenerator<Job, void, undefined> {
  const { signal } = options
  let latest: JobRow | undefined
  let wake = () => {}
  const unsubscribe = options.signals.subscribe(options.jobId, (row) => {
    latest = row
    wake()
  })
  const onAbort = () => wake()
  signal.addEventListener('abort', onAbort)
  try {
    let seen = -1
    while (!signal.aborted) {
      const told = latest
      // Cleared before the read: what is told meanwhile is newer.
      latest = undefined
      const row = told ?? (await options.read())
      if (!row) return
      // A poll may have read before a change that was told since.
      if (row.version > seen) yield toJob(row)
      seen = Math.max(seen, row.version)
      if (hasEnded(row)) return
      if (!latest && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(resolve, options.pollMilliseconds)
        await promise
        clearTimeout(timer)
      }
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    unsubscribe()
  }
}
