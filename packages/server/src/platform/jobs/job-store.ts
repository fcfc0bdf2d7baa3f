import type { Job, JobState } from '@atelier/contract'
import { type Selectable, sql, type Transaction } from 'kysely'
import { newId } from '../../base/ids.ts'
import type { Database } from '../db/database.ts'
import type { JobTable, Tables } from '../db/tables.ts'
import type { WorkspaceScope } from '../identity/workspace-scope.ts'
import type { JobKind } from './job-handler.ts'
import { leaseMilliseconds, maxAttempts, strandedHours } from './job-limits.ts'

export type JobRow = Selectable<JobTable>

const activeStates: JobState[] = ['queued', 'running']

export interface NewJobRow {
  id?: string | undefined
  kind: JobKind
  unit: Job['progress']['unit']
  input: Record<string, unknown>
  phase: string
  total: number | null
  pinnedTo: string | null
}

/** Names one attempt: a write under it changes nothing once another attempt has begun or the job has ended. */
export interface AttemptKey {
  id: string
  attempt: number
}

/** The only SQL about jobs. Times are the database's, so that nodes need not agree about theirs. */
export function createJobStore({ database, node }: { database: Database; node: string }) {
  const { kysely } = database
  const leaseEnd = sql<Date>`now() + ${leaseMilliseconds} * interval '1 millisecond'`

  function onAttempt({ id, attempt }: AttemptKey) {
    return kysely
      .updateTable('jobs')
      .set(({ eb }) => ({ version: eb('version', '+', 1) }))
      .where('id', '=', id)
      .where('attempt', '=', attempt)
      .where('state', '=', 'running')
      .returningAll()
  }

  return {
    insert: (scope: WorkspaceScope, job: NewJobRow): Promise<JobRow> =>
      database.inWorkspace(scope, (transaction) =>
        transaction.insertInto('jobs').values(newRow(scope, job)).returningAll().executeTakeFirstOrThrow(),
      ),

    /** `undefined`: one of the kind waits or runs. The kind needs its unique index. Ended ones of the kind are deleted. */
    insertOnce: (scope: WorkspaceScope, job: NewJobRow): Promise<JobRow | undefined> =>
      kysely.transaction().execute(async (transaction) => {
        const { workspaceId } = scope
        await transaction
          .deleteFrom('jobs')
          .where('workspace_id', '=', workspaceId)
          .where('kind', '=', job.kind)
          .where('finished_at', 'is not', null)
          .execute()
        return await transaction
          .insertInto('jobs')
          .values(newRow(scope, job))
          .onConflict((conflict) => conflict.doNothing())
          .returningAll()
          .executeTakeFirst()
      }),

    find: (scope: WorkspaceScope, id: string): Promise<JobRow | undefined> =>
      database.inWorkspace(scope, (transaction) => findIn(transaction, scope, id)),

    list: (scope: WorkspaceScope, page: { limit: number; before: string | undefined }): Promise<JobRow[]> =>
      database.inWorkspace(scope, (transaction) =>
        transaction
          .selectFrom('jobs')
          .selectAll()
          .where('workspace_id', '=', scope.workspaceId)
          .$if(page.before !== undefined, (query) => query.where('id', '<', page.before ?? ''))
          .orderBy('id', 'desc')
          .limit(page.limit)
          .execute(),
      ),

    /** Ends the jobs of the scope that have not ended, or the one of them. Gives those that this call has ended. */
    cancel: (scope: WorkspaceScope, id?: string): Promise<JobRow[]> =>
      database.inWorkspace(scope, (transaction) =>
        transaction
          .updateTable('jobs')
          .set(({ eb }) => ({
            state: 'cancelled',
            lease_until: null,
            finished_at: sql<Date>`now()`,
            version: eb('version', '+', 1),
          }))
          .where('workspace_id', '=', scope.workspaceId)
          .where('state', 'in', activeStates)
          .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
          .returningAll()
          .execute(),
      ),

    async countActive(userId: string): Promise<number> {
      const { count } = await kysely
        .selectFrom('jobs')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('created_by', '=', userId)
        .where('state', 'in', activeStates)
        .executeTakeFirstOrThrow()
      return count
    },

    /** Which of `ids` have not ended. */
    async active(ids: readonly string[]): Promise<Set<string>> {
      if (ids.length === 0) return new Set()
      const rows = await kysely
        .selectFrom('jobs')
        .select('id')
        .where('id', 'in', ids)
        .where('state', 'in', activeStates)
        .execute()
      return new Set(rows.map(({ id }) => id))
    },

    /** Takes the oldest job that waits, or whose worker fell silent, for a new attempt. Two callers never get the same. */
    claim: (kinds: readonly JobKind[]): Promise<JobRow | undefined> =>
      kysely
        .updateTable('jobs')
        .set(({ eb }) => ({
          state: 'running',
          attempt: eb('attempt', '+', 1),
          attempts_left: eb('attempts_left', '-', 1),
          lease_until: leaseEnd,
          started_at: sql<Date>`coalesce(started_at, now())`,
          version: eb('version', '+', 1),
        }))
        .where('id', '=', (eb) =>
          eb
            .selectFrom('jobs')
            .select('id')
            .where('kind', 'in', kinds)
            .where(runnable)
            .where('attempts_left', '>', 0)
            .where(({ eb, or }) => or([eb('pinned_to', 'is', null), eb('pinned_to', '=', node)]))
            .orderBy('id')
            .limit(1)
            .forUpdate()
            .skipLocked(),
        )
        .returningAll()
        .executeTakeFirst(),

    /** Fails the jobs that could be taken over but have no attempt left. */
    failExhausted: (): Promise<JobRow[]> =>
      kysely
        .updateTable('jobs')
        .set(({ eb }) => ({
          ...failure(
            'INTERNAL_ERROR',
            `It was cut off ${maxAttempts} times, most likely by what it worked on`,
          ),
          version: eb('version', '+', 1),
        }))
        .where('attempts_left', '=', 0)
        .where(runnable)
        .returningAll()
        .execute(),

    /** Fails jobs whose files are on another node that did not come back for them. */
    failStranded: (): Promise<JobRow[]> =>
      kysely
        .updateTable('jobs')
        .set(({ eb }) => ({
          ...failure('SERVICE_UNAVAILABLE', 'The server that holds its files has not come back'),
          version: eb('version', '+', 1),
        }))
        .where(runnable)
        .where('pinned_to', '!=', node)
        .where('created_at', '<', sql<Date>`now() - ${strandedHours} * interval '1 hour'`)
        .returningAll()
        .execute(),

    /** Lets every running job be taken over at once: for a start that knows itself to be the only process. */
    releaseAll: async (): Promise<void> => {
      await kysely
        .updateTable('jobs')
        .set({ state: 'queued', lease_until: null })
        .where('state', '=', 'running')
        .execute()
    },

    /** Writes progress and renews the lease. `undefined`: this attempt is over, whoever ended it. */
    report: (
      key: AttemptKey,
      progress: { phase: string; done: number; total: number | null },
    ): Promise<JobRow | undefined> =>
      onAttempt(key)
        .set({ ...progress, lease_until: leaseEnd })
        .executeTakeFirst(),

    succeed: (
      key: AttemptKey,
      progress: { phase: string; done: number; total: number | null },
      report: Record<string, unknown>,
    ): Promise<JobRow | undefined> =>
      onAttempt(key)
        .set({
          ...progress,
          state: 'succeeded',
          report: JSON.stringify(report),
          lease_until: null,
          finished_at: sql<Date>`now()`,
        })
        .executeTakeFirst(),

    fail: (key: AttemptKey, error: { code: string; message: string }): Promise<JobRow | undefined> =>
      onAttempt(key).set(failure(error.code, error.message)).executeTakeFirst(),

    /** Puts the job back. `refund`: the attempt does not count, because the server stopped on purpose. */
    requeue: (
      key: AttemptKey,
      options: { afterMilliseconds: number; refund: boolean },
    ): Promise<JobRow | undefined> =>
      onAttempt(key)
        .set(({ eb }) => ({
          state: 'queued',
          lease_until: null,
          run_after: sql<Date>`now() + ${options.afterMilliseconds} * interval '1 millisecond'`,
          attempts_left: eb('attempts_left', '+', options.refund ? 1 : 0),
        }))
        .executeTakeFirst(),
  }
}

export type JobStore = ReturnType<typeof createJobStore>

const runnable = sql<boolean>`((state = 'queued' and run_after <= now()) or (state = 'running' and lease_until < now()))`

function newRow(scope: WorkspaceScope, job: NewJobRow) {
  return {
    id: job.id ?? newId('job'),
    workspace_id: scope.workspaceId,
    created_by: scope.userId,
    kind: job.kind,
    unit: job.unit,
    input: JSON.stringify(job.input),
    phase: job.phase,
    total: job.total,
    pinned_to: job.pinnedTo,
    attempts_left: maxAttempts,
  }
}

function failure(code: string, message: string) {
  return {
    state: 'failed' as const,
    error_code: code,
    error_message: message,
    lease_until: null,
    finished_at: sql<Date>`now()`,
  }
}

function findIn(
  transaction: Transaction<Tables>,
  scope: WorkspaceScope,
  id: string,
): Promise<JobRow | undefined> {
  return transaction
    .selectFrom('jobs')
    .selectAll()
    .where('workspace_id', '=', scope.workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function hasEnded({ state }: { state: JobState }): boolean {
  return !activeStates.includes(state)
}

/** A row as the interface shows it. */
export function toJob(row: JobRow): Job {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    kind: row.kind,
    state: row.state,
    progress: { phase: row.phase, done: row.done, total: row.total, unit: row.unit },
    report: row.report,
    error:
      row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? row.error_code },
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    finishedAt: row.finished_at?.toISOString() ?? null,
  }
}
