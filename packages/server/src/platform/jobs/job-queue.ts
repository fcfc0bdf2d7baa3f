import type { Job, Page } from '@atelier/contract'
import { AppError, notFound } from '../../base/app-error.ts'
import { decodeCursor, toPage } from '../../base/cursor.ts'
import type { Database } from '../db/database.ts'
import type { WorkspaceScope } from '../identity/workspace-scope.ts'
import type { JobLogger } from './job-attempt.ts'
import type { JobHandler, JobKind } from './job-handler.ts'
import { createJobRunner } from './job-runner.ts'
import { createJobSignals } from './job-signals.ts'
import { createJobStore, type JobRow, toJob } from './job-store.ts'
import { watchJob } from './watch-job.ts'

/** How often other nodes' work is looked for where there may be other nodes, in milliseconds. */
const sharedPollMilliseconds = 1_500

/** The embedded database has one process, which tells itself; this is only for jobs whose retry time has come. */
const alonePollMilliseconds = 30_000

export interface NewJob {
  kind: JobKind
  /** for the handler, as JSON */
  input: Record<string, unknown>
  /** what it waits for, in words */
  phase: string
  total?: number | null
  /** given where something had to be named after the job before it exists */
  id?: string
  /** only this node has the files that the job reads */
  pinned?: boolean
}

/** Long work of workspaces: rows in the database, run by whichever node is free, seen by whoever watches. */
export interface JobQueue extends AsyncDisposable {
  /** Says how jobs of a kind are done. To be called before `start`. */
  handle(handler: JobHandler): void
  /** Begins to take jobs, those that an earlier process left first. */
  start(): Promise<void>
  /** Stores a job; it is durable when this resolves. */
  enqueue(scope: WorkspaceScope, job: NewJob): Promise<Job>
  /**
   * Stores a job unless one of its kind waits or runs in the workspace already, and forgets those of the kind that have
   * ended: for work that nobody asked for.
   */
  enqueueOnce(scope: WorkspaceScope, job: Pick<NewJob, 'kind' | 'input' | 'phase'>): Promise<void>
  /** Throws NOT_FOUND. */
  get(scope: WorkspaceScope, jobId: string): Promise<Job>
  /** Newest first. Throws VALIDATION_ERROR for a foreign cursor. */
  list(scope: WorkspaceScope, page: { limit: number; cursor?: string | undefined }): Promise<Page<Job>>
  /** Cancels a job; once more does nothing. Throws NOT_FOUND, and CONFLICT where it has ended otherwise. */
  cancel(scope: WorkspaceScope, jobId: string): Promise<Job>
  /** Cancels whatever has not ended in a workspace. */
  cancelAll(scope: WorkspaceScope): Promise<void>
  /** The job now and at each change; ends when it has ended or is deleted, or when `signal` aborts. */
  watch(scope: WorkspaceScope, jobId: string, signal: AbortSignal): AsyncIterable<Job>
  /** How many jobs of a person wait or run, in all workspaces. */
  countActive(userId: string): Promise<number>
  /** Which of `jobIds` have not ended; one that does not exist has. */
  active(jobIds: readonly string[]): Promise<Set<string>>
}

export function createJobQueue(options: {
  database: Database
  /** id of the data directory: jobs pinned to its files are run only by processes that have it */
  node: string
  logger: JobLogger
}): JobQueue {
  const { database, node, logger } = options
  const alone = database.engine === 'pglite'
  const pollMilliseconds = alone ? alonePollMilliseconds : sharedPollMilliseconds
  const handlers = new Map<JobKind, JobHandler>()
  const store = createJobStore({ database, node })
  const signals = createJobSignals()
  const runner = createJobRunner({ store, signals, handlers, pollMilliseconds, logger })

  function unitOf(kind: JobKind): JobHandler['unit'] {
    const handler = handlers.get(kind)
    if (!handler) throw new Error(`nothing handles jobs of kind ${kind}`)
    return handler.unit
  }

  /** A job that does not run here holds nothing but what its handler says. */
  async function settleCancelled(row: JobRow): Promise<void> {
    signals.publish(row)
    if (runner.stop(row.id, 'cancelled')) return
    await handlers.get(row.kind)?.ended?.({ jobId: row.id, workspaceId: row.workspace_id })
  }

  return {
    handle(handler) {
      handlers.set(handler.kind, handler)
    },
    async start() {
      if (alone) await store.releaseAll()
      runner.start()
    },
    async enqueueOnce(scope, job) {
      const row = await store.insertOnce(scope, {
        ...job,
        unit: unitOf(job.kind),
        total: null,
        pinnedTo: null,
      })
      if (row) runner.wake()
    },
    async enqueue(scope, job) {
      const unit = unitOf(job.kind)
      const { id, kind, input, phase, total = null } = job
      const row = await store.insert(scope, {
        id,
        kind,
        unit,
        input,
        phase,
        total,
        pinnedTo: job.pinned ? node : null,
      })
      runner.wake()
      return toJob(row)
    },
    async get(scope, jobId) {
      return toJob(found(await store.find(scope, jobId)))
    },
    async list(scope, { limit, cursor }) {
      const before = decodeCursor(cursor, 'job')
      const { items, nextCursor } = toPage(await store.list(scope, { limit: limit + 1, before }), limit)
      return { items: items.map(toJob), nextCursor }
    },
    async cancel(scope, jobId) {
      const [cancelled] = await store.cancel(scope, jobId)
      if (cancelled) await settleCancelled(cancelled)
      const job = toJob(cancelled ?? found(await store.find(scope, jobId)))
      if (job.state !== 'cancelled') throw new AppError('CONFLICT', `The job has already ${job.state}`)
      return job
    },
    async cancelAll(scope) {
      for (const row of await store.cancel(scope)) await settleCancelled(row)
    },
    watch: (scope, jobId, signal) =>
      watchJob({
        jobId,
        signals,
        read: () => store.find(scope, jobId),
        pollMilliseconds: sharedPollMilliseconds,
        signal,
      }),
    countActive: store.countActive,
    active: store.active,
    [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
  }
}

function found(row: JobRow | undefined): JobRow {
  if (!row) throw notFound('Job')
  return row
}
