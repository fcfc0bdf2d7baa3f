import { AppError } from '../../base/app-error.ts'
import { sqlStateOf } from '../db/database-errors.ts'
import { grantWorkspaceScope } from '../identity/workspace-scope.ts'
import type { JobHandler, JobProgress } from './job-handler.ts'
import {
  heartbeatMilliseconds,
  leaseMilliseconds,
  progressMilliseconds,
  retryDelayMilliseconds,
} from './job-limits.ts'
import type { JobSignals } from './job-signals.ts'
import type { JobRow, JobStore } from './job-store.ts'

/** Why an attempt was told to stop. `stopping`: the server is; the others: its row says that it is over. */
export type StopReason = 'cancelled' | 'lost' | 'stopping'

export class JobStopped extends Error {
  override name = 'JobStopped'
  readonly reason: StopReason

  constructor(reason: StopReason) {
    super(`the job was stopped: ${reason}`)
    this.reason = reason
  }
}

export interface JobLogger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

interface AttemptOptions {
  row: JobRow
  handler: JobHandler
  store: JobStore
  signals: JobSignals
  logger: JobLogger
  controller: AbortController
}

/** Runs one attempt to its end and writes how it ended. Never rejects: a fault is the job's, or is logged. */
export async function runAttempt(
  options: AttemptOptions,
): Promise<{ retryAfterMilliseconds: number | null }> {
  const { row, handler, store, logger, controller } = options
  const { signal } = controller
  const lease = holdLease(options)
  try {
    const report = await handler.run({
      jobId: row.id,
      scope: grantWorkspaceScope({ workspaceId: row.workspace_id, userId: null, role: 'editor' }),
      input: row.input,
      attempt: row.attempt,
      signal,
      progress: lease.update,
    })
    await lease.stop()
    // Also where it was told to stop too late: if somebody else ended it, this writes nothing.
    publish(options, await store.succeed(row, lease.progress, report))
    return { retryAfterMilliseconds: null }
  } catch (error) {
    await lease.stop()
    return await settleFault(options, error).catch((cause: unknown) => {
      // The row still says "running"; its lease runs out, and somebody takes it over.
      logger.error({ err: cause, jobId: row.id }, 'the end of a job could not be written')
      return { retryAfterMilliseconds: leaseMilliseconds }
    })
  } finally {
    await lease.stop()
  }
}

async function settleFault(
  options: AttemptOptions,
  error: unknown,
): Promise<{ retryAfterMilliseconds: number | null }> {
  const { row, store, logger, controller } = options
  const { reason } = controller.signal
  if (controller.signal.aborted && reason instanceof JobStopped) {
    if (reason.reason !== 'stopping') return { retryAfterMilliseconds: null }
    publish(options, await store.requeue(row, { afterMilliseconds: 0, refund: true }))
    return { retryAfterMilliseconds: 0 }
  }
  if (mayPass(error) && row.attempts_left > 0) {
    logger.warn({ err: error, jobId: row.id, attempt: row.attempt }, 'a job is tried again')
    const afterMilliseconds = retryDelayMilliseconds(row.attempt)
    publish(options, await store.requeue(row, { afterMilliseconds, refund: false }))
    return { retryAfterMilliseconds: afterMilliseconds }
  }
  if (!(error instanceof AppError)) logger.error({ err: error, jobId: row.id }, 'a job failed on our side')
  publish(options, await store.fail(row, shownError(error)))
  return { retryAfterMilliseconds: null }
}

/** Faults of the moment: the database was away, or two transactions got in each other's way. */
function mayPass(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'SERVICE_UNAVAILABLE' || error.code === 'TIMEOUT'
  return ['40001', '40P01'].includes(sqlStateOf(error) ?? '')
}

function shownError(error: unknown): { code: string; message: string } {
  if (error instanceof AppError) return { code: error.code, message: error.message }
  return { code: 'INTERNAL_ERROR', message: 'Something failed on our side' }
}

function publish({ signals }: AttemptOptions, row: JobRow | undefined): void {
  if (row) signals.publish(row)
}

/**
 * Renews the lease and writes progress in the background. Aborts the attempt when the row says that it is over, or when
 * the lease could not be renewed in time and another worker may have it.
 */
function holdLease(options: AttemptOptions) {
  const { row, store, signals, logger, controller } = options
  const progress = { phase: row.phase, done: 0, total: row.total }
  let changed = true
  let renewedAt = performance.now()
  let writing: Promise<void> | undefined
  const timer = setInterval(() => {
    writing ??= tick().finally(() => {
      writing = undefined
    })
  }, progressMilliseconds)

  async function tick(): Promise<void> {
    const silent = performance.now() - renewedAt
    if (!changed && silent < heartbeatMilliseconds) return
    changed = false
    const startedAt = performance.now()
    try {
      const written = await store.report(row, progress)
      renewedAt = startedAt
      if (!written) controller.abort(new JobStopped('lost'))
      else signals.publish(written)
    } catch (error) {
      logger.warn({ err: error, jobId: row.id }, 'the lease of a job could not be renewed')
      changed = true
      if (silent > leaseMilliseconds) controller.abort(new JobStopped('lost'))
    }
  }

  return {
    progress,
    update(next: JobProgress): void {
      Object.assign(progress, next)
      changed = true
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await writing
    },
  }
}
