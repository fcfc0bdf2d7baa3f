import { type JobLogger, JobStopped, runAttempt, type StopReason } from './job-attempt.ts'
import type { JobHandler, JobKind } from './job-handler.ts'
import type { JobSignals } from './job-signals.ts'
import type { JobRow, JobStore } from './job-store.ts'

/** How long a stop waits for handlers to notice, in milliseconds; the rest of the server has as long after it. */
const stopBudgetMilliseconds = 5_000

/** Wait after the database did not answer, in milliseconds. */
const faultPauseMilliseconds = 2_000

export interface JobRunner extends AsyncDisposable {
  start(): void
  /** Something may be waiting: look now. */
  wake(): void
  /** Stops the attempt of a job that runs here. Whether one does. */
  stop(jobId: string, reason: StopReason): boolean
}

/**
 * Takes jobs one after the other, those of each kind by themselves: they are heavy on the processor, and requests come
 * first; but what waits for a provider for hours must not hold up what people wait for.
 * Disposing stops what runs and puts it back for the next start.
 */
export function createJobRunner(options: {
  store: JobStore
  signals: JobSignals
  handlers: ReadonlyMap<JobKind, JobHandler>
  pollMilliseconds: number
  logger: JobLogger
}): JobRunner {
  const { store, signals, handlers, logger } = options
  const running = new Map<string, AbortController>()
  const sleepers = new Set<() => void>()
  let wakeUps = 0
  let workers: Promise<void>[] = []
  let stopping = false

  async function work(kind: JobKind): Promise<void> {
    while (!stopping) {
      const wakeUpsBefore = wakeUps
      const row = await take(kind)
      if (row === 'fault') await sleep(faultPauseMilliseconds)
      // A job that was queued while the last look was under way is not waited for until the next poll.
      else if (row === undefined) {
        if (wakeUps === wakeUpsBefore) await sleep(options.pollMilliseconds)
      } else await run(row)
    }
  }

  async function take(kind: JobKind): Promise<JobRow | undefined | 'fault'> {
    try {
      const row = await store.claim([kind])
      if (row) return row
      for (const failed of [...(await store.failExhausted()), ...(await store.failStranded())]) {
        signals.publish(failed)
        await release(failed)
      }
      return undefined
    } catch (error) {
      if (!stopping) logger.warn({ err: error }, 'jobs could not be looked up')
      return 'fault'
    }
  }

  async function run(row: JobRow): Promise<void> {
    const handler = handlers.get(row.kind)
    if (!handler) throw new Error(`no handler for a claimed job of kind ${row.kind}`)
    const controller = new AbortController()
    running.set(row.id, controller)
    if (stopping) controller.abort(new JobStopped('stopping'))
    signals.publish(row)
    const { retryAfterMilliseconds } = await runAttempt({ row, handler, store, signals, logger, controller })
    running.delete(row.id)
    if (retryAfterMilliseconds === null) await release(row)
    else if (!stopping) setTimeout(wake, retryAfterMilliseconds).unref()
  }

  /**
   * Frees what an ended job held, unless another attempt on the same files has begun. What fails here is swept up
   * later.
   */
  async function release(row: JobRow): Promise<void> {
    try {
      if ((await store.active([row.id])).has(row.id)) return
      await handlers.get(row.kind)?.ended?.({ jobId: row.id, workspaceId: row.workspace_id })
    } catch (error) {
      logger.warn({ err: error, jobId: row.id }, 'what a job held could not be freed')
    }
  }

  function wake(): void {
    wakeUps += 1
    for (const sleeper of sleepers) sleeper()
  }

  async function sleep(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, milliseconds)
    sleepers.add(resolve)
    await promise
    sleepers.delete(resolve)
    clearTimeout(timer)
  }

  return {
    start() {
      workers = [...handlers.keys()].map(work)
    },
    wake,
    stop(jobId, reason) {
      const found = running.get(jobId)
      found?.abort(new JobStopped(reason))
      return found !== undefined
    },
    async [Symbol.asyncDispose]() {
      stopping = true
      for (const controller of running.values()) controller.abort(new JobStopped('stopping'))
      wake()
      const { promise: overdue, resolve } = Promise.withResolvers<'overdue'>()
      const timer = setTimeout(resolve, stopBudgetMilliseconds, 'overdue')
      const result = await Promise.race([Promise.all(workers), overdue])
      clearTimeout(timer)
      if (result === 'overdue') logger.warn({ jobs: [...running.keys()] }, 'jobs did not stop in time')
    },
  }
}
