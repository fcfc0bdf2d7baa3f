import { describeOnEveryDatabase, openTestDatabase } from '@atelier/testkit'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { AppError } from '../../packages/server/src/base/app-error.ts'
import { newId } from '../../packages/server/src/base/ids.ts'
import type { Database } from '../../packages/server/src/platform/db/database.ts'
import {
  grantWorkspaceScope,
  type WorkspaceScope,
} from '../../packages/server/src/platform/identity/workspace-scope.ts'
import type { JobHandler, JobRun } from '../../packages/server/src/platform/jobs/job-handler.ts'
import { maxAttempts } from '../../packages/server/src/platform/jobs/job-limits.ts'
import { createJobQueue, type JobQueue } from '../../packages/server/src/platform/jobs/job-queue.ts'
import { createJobStore, type JobRow } from '../../packages/server/src/platform/jobs/job-store.ts'

const silent = { info() {}, warn() {}, error() {} }

describeOnEveryDatabase('jobs', (engine) => {
  let database: Database
  let scope: WorkspaceScope
  let stack: AsyncDisposableStack

  beforeAll(async () => {
    database = await openTestDatabase(engine)
  })
  afterAll(() => database[Symbol.asyncDispose]())
  beforeEach(async () => {
    stack = new AsyncDisposableStack()
    scope = await newWorkspace()
  })
  afterEach(async () => {
    await stack.disposeAsync()
    await database.kysely.deleteFrom('workspaces').execute()
  })

  async function newWorkspace(): Promise<WorkspaceScope> {
    const workspaceId = newId('workspace')
    await database.kysely.insertInto('workspaces').values({ id: workspaceId, name: 'w' }).execute()
    return grantWorkspaceScope({ workspaceId, userId: newId('user'), role: 'editor' })
  }

  function openQueue(
    run: JobHandler['run'],
    options: { node?: string; ended?: JobHandler['ended'] } = {},
  ): JobQueue {
    const queue = stack.use(createJobQueue({ database, node: options.node ?? 'here', logger: silent }))
    queue.handle({ kind: 'import', unit: 'files', run, ...(options.ended ? { ended: options.ended } : {}) })
    return queue
  }

  const request = { kind: 'import', input: { some: 'input' }, phase: 'waiting' } as const

  async function endOf(queue: JobQueue, jobId: string) {
    const seen = await Array.fromAsync(queue.watch(scope, jobId, new AbortController().signal))
    return seen.at(-1)
  }

  /** A handler that waits until it is told to stop. */
  function patient() {
    const { promise: begun, resolve } = Promise.withResolvers<JobRun>()
    return {
      begun,
      run: async (run: JobRun) => {
        resolve(run)
        await new Promise((_, reject) => {
          if (run.signal.aborted) reject(run.signal.reason)
          run.signal.addEventListener('abort', () => reject(run.signal.reason))
        })
        return {}
      },
    }
  }

  it('[JOB15] jobs of a kind take turns; those of another do not wait for them', async () => {
    const { begun, run } = patient()
    const queue = openQueue(run)
    queue.handle({ kind: 'reembed', unit: 'chunks', run: async () => ({ done: true }) })
    await queue.start()
    const first = await queue.enqueue(scope, request)
    const second = await queue.enqueue(scope, request)
    await begun
    const other = await queue.enqueue(scope, { kind: 'reembed', input: {}, phase: 'waiting' })
    expect(await endOf(queue, other.id)).toMatchObject({ state: 'succeeded' })
    expect((await queue.get(scope, first.id)).state).toBe('running')
    expect((await queue.get(scope, second.id)).state).toBe('queued')
  })

  it('[JOB1] a job runs with its input and ends with its progress and report', async () => {
    const queue = openQueue(async ({ input, progress, scope: given }) => {
      expect(given).toMatchObject({ workspaceId: scope.workspaceId, userId: null })
      progress({ phase: 'reading', done: 3, total: 3 })
      return { input }
    })
    await queue.start()
    const { id, state } = await queue.enqueue(scope, request)
    expect(state).toBe('queued')
    expect(await endOf(queue, id)).toMatchObject({
      state: 'succeeded',
      progress: { phase: 'reading', done: 3, total: 3, unit: 'files' },
      report: { input: { some: 'input' } },
      error: null,
    })
  })

  it('[JOB2] every job is run once, however many nodes take jobs', async () => {
    const runs: string[] = []
    const run: JobHandler['run'] = async ({ jobId }) => {
      runs.push(jobId)
      return {}
    }
    const queues = ['one', 'two', 'three'].map((node) => openQueue(run, { node }))
    const jobs = await Promise.all(
      Array.from({ length: 15 }, (_, at) => (queues[at % 3] as JobQueue).enqueue(scope, request)),
    )
    await Promise.all(queues.map((queue) => queue.start()))
    for (const { id } of jobs)
      expect(await endOf(queues[0] as JobQueue, id)).toMatchObject({ state: 'succeeded' })
    expect(runs.sort()).toEqual(jobs.map(({ id }) => id).sort())
  })

  it('[JOB3] whoever lost its lease writes nothing any more', async () => {
    const store = createJobStore({ database, node: 'here' })
    const { id } = await store.insert(scope, { ...request, unit: 'files', total: null, pinnedTo: null })
    const first = (await store.claim(['import'])) as JobRow
    expect(first).toMatchObject({ id, attempt: 1, state: 'running' })
    expect(await store.claim(['import'])).toBeUndefined()
    await expireLeases()
    const second = (await store.claim(['import'])) as JobRow
    expect(second).toMatchObject({ id, attempt: 2 })
    const late = { phase: 'late', done: 9, total: 9 }
    expect(await store.report(first, late)).toBeUndefined()
    expect(await store.succeed(first, late, { wrong: true })).toBeUndefined()
    expect(await store.fail(first, { code: 'X', message: 'x' })).toBeUndefined()
    expect(await store.requeue(first, { afterMilliseconds: 0, refund: true })).toBeUndefined()
    expect(await store.succeed(second, late, { right: true })).toMatchObject({ report: { right: true } })
  })

  it('[JOB4] a job that is cut off again and again fails', async () => {
    const store = createJobStore({ database, node: 'here' })
    const { id } = await store.insert(scope, { ...request, unit: 'files', total: null, pinnedTo: null })
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      expect(await store.claim(['import'])).toMatchObject({ attempt })
      expect(await store.failExhausted()).toEqual([])
      await expireLeases()
    }
    expect(await store.claim(['import'])).toBeUndefined()
    expect(await store.failExhausted()).toMatchObject([{ id, state: 'failed', error_code: 'INTERNAL_ERROR' }])
  })

  it('[JOB5] cancelling stops the work at once and frees what it held', async () => {
    const { begun, run } = patient()
    const { promise: freed, resolve: free } = Promise.withResolvers<{ jobId: string }>()
    const queue = openQueue(run, { ended: async (job) => free(job) })
    await queue.start()
    const { id } = await queue.enqueue(scope, request)
    const { signal } = await begun
    expect(await queue.cancel(scope, id)).toMatchObject({ id, state: 'cancelled' })
    expect(signal.aborted).toBe(true)
    expect(await freed).toMatchObject({ jobId: id })
    expect(await queue.cancel(scope, id)).toMatchObject({ state: 'cancelled' })
    expect(await queue.get(scope, id)).toMatchObject({ state: 'cancelled', report: null, error: null })
  })

  it('[JOB5] a job that waits is cancelled without ever running; one that ended is a conflict', async () => {
    let runs = 0
    const queue = openQueue(async () => {
      runs += 1
      return {}
    })
    const waiting = await queue.enqueue(scope, request)
    await queue.cancel(scope, waiting.id)
    await queue.start()
    const other = await queue.enqueue(scope, request)
    await endOf(queue, other.id)
    expect(runs).toBe(1)
    await expect(queue.cancel(scope, other.id)).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('[JOB6] a refusal fails the job with its own words; a fault of ours shows nothing of its cause', async () => {
    const faults = [new AppError('VALIDATION_ERROR', 'files: is damaged'), new Error('password=hunter2')]
    const queue = openQueue(async () => {
      throw faults.shift()
    })
    await queue.start()
    const first = await queue.enqueue(scope, request)
    expect(await endOf(queue, first.id)).toMatchObject({
      state: 'failed',
      error: { code: 'VALIDATION_ERROR', message: 'files: is damaged' },
    })
    const second = await queue.enqueue(scope, request)
    const failed = await endOf(queue, second.id)
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'INTERNAL_ERROR' } })
    expect(JSON.stringify(failed)).not.toContain('hunter2')
  })

  it('[JOB6] a fault that may pass is tried again', async () => {
    const attempts: number[] = []
    const queue = openQueue(async ({ attempt }) => {
      attempts.push(attempt)
      if (attempt === 1) throw new AppError('SERVICE_UNAVAILABLE', 'the database was away')
      return {}
    })
    await queue.start()
    const { id } = await queue.enqueue(scope, request)
    expect(await endOf(queue, id)).toMatchObject({ state: 'succeeded' })
    expect(attempts).toEqual([1, 2])
  })

  it('[JOB7] a job that a stop interrupts is finished by the next start, and the stop is not held against it', async () => {
    const { begun, run } = patient()
    const before = openQueue(run)
    await before.start()
    const { id } = await before.enqueue(scope, request)
    await begun
    await before[Symbol.asyncDispose]()
    expect(await before.get(scope, id)).toMatchObject({ state: 'queued' })
    const row = await database.kysely
      .selectFrom('jobs')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row.attempts_left).toBe(maxAttempts)
    const after = openQueue(async ({ attempt }) => ({ attempt }))
    await after.start()
    expect(await endOf(after, id)).toMatchObject({ state: 'succeeded', report: { attempt: 2 } })
  })

  it('[JOB7] a job whose process was killed is taken up at the next start', async () => {
    const store = createJobStore({ database, node: 'here' })
    const { id } = await store.insert(scope, { ...request, unit: 'files', total: null, pinnedTo: null })
    await store.claim(['import'])
    const runs: number[] = []
    const queue = openQueue(async ({ attempt }) => {
      runs.push(attempt)
      return { attempt }
    })
    await queue.start()
    // The embedded database has one process, which knows that the other is gone. Elsewhere it may only be slow.
    if (engine === 'postgres') {
      expect(await store.find(scope, id)).toMatchObject({ state: 'running', attempt: 1 })
      await expireLeases()
    }
    expect(await endOf(queue, id)).toMatchObject({ state: 'succeeded', report: { attempt: 2 } })
    expect(runs).toEqual([2])
  })

  it('[JOB8] a watcher sees the job now, its changes and its end', async () => {
    const { promise: go, resolve: proceed } = Promise.withResolvers<void>()
    const queue = openQueue(async ({ progress }) => {
      progress({ phase: 'half', done: 1, total: 2 })
      await go
      return {}
    })
    const { id } = await queue.enqueue(scope, request)
    const states: string[] = []
    const phases = new Set<string>()
    await queue.start()
    for await (const job of queue.watch(scope, id, new AbortController().signal)) {
      states.push(job.state)
      phases.add(job.progress.phase)
      if (job.progress.phase === 'half') proceed()
    }
    expect(states.at(-1)).toBe('succeeded')
    expect(phases).toContain('half')
    expect(await Array.fromAsync(queue.watch(scope, id, new AbortController().signal))).toHaveLength(1)
  })

  it('[JOB8] a watcher is let go when its caller leaves, and when the job is deleted', async () => {
    const { begun, run } = patient()
    const queue = openQueue(run)
    await queue.start()
    const { id } = await queue.enqueue(scope, request)
    await begun
    const leaving = new AbortController()
    const left = queue.watch(scope, id, leaving.signal)[Symbol.asyncIterator]()
    await left.next()
    leaving.abort()
    while (!(await left.next()).done);
    const watching = queue.watch(scope, id, new AbortController().signal)[Symbol.asyncIterator]()
    expect((await watching.next()).value).toMatchObject({ state: 'running' })
    await database.kysely.deleteFrom('workspaces').where('id', '=', scope.workspaceId).execute()
    while (!(await watching.next()).done);
  })

  it('[JOB9] jobs of another workspace are not there', async () => {
    const queue = openQueue(async () => ({}))
    const { id } = await queue.enqueue(scope, request)
    const stranger = await newWorkspace()
    await expect(queue.get(stranger, id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(queue.cancel(stranger, id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await queue.list(stranger, { limit: 10 })).toEqual({ items: [], nextCursor: null })
    expect(await Array.fromAsync(queue.watch(stranger, id, new AbortController().signal))).toEqual([])
    const unfiltered = await database.inWorkspace(stranger, (transaction) =>
      transaction.selectFrom('jobs').selectAll().execute(),
    )
    expect(unfiltered).toEqual([])
    await queue.cancelAll(stranger)
    expect(await queue.get(scope, id)).toMatchObject({ state: 'queued' })
  })

  it('[JOB10] progress is written a few times a second, however often it is told', async () => {
    const queue = openQueue(async ({ progress }) => {
      const end = performance.now() + 600
      for (let done = 0; performance.now() < end; done += 1) {
        progress({ done })
        await new Promise(setImmediate)
      }
      return {}
    })
    await queue.start()
    const { id } = await queue.enqueue(scope, request)
    const { progress } = (await endOf(queue, id)) ?? {}
    const { version } = await database.kysely
      .selectFrom('jobs')
      .select('version')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(progress?.done).toBeGreaterThan(100)
    expect(version).toBeLessThan(20)
  })

  it('[JOB11] a job that reads files of one node is left to it', async () => {
    const here = openQueue(async () => ({}), { node: 'here' })
    const { id } = await here.enqueue(scope, { ...request, pinned: true })
    const elsewhere = createJobStore({ database, node: 'elsewhere' })
    expect(await elsewhere.claim(['import'])).toBeUndefined()
    expect(await elsewhere.failStranded()).toEqual([])
    await database.kysely
      .updateTable('jobs')
      .set({ created_at: sql<Date>`now() - interval '25 hours'` } as never)
      .execute()
    expect(await elsewhere.failStranded()).toMatchObject([
      { id, state: 'failed', error_code: 'SERVICE_UNAVAILABLE' },
    ])
  })

  it('[JOB12] jobs are listed newest first, page by page', async () => {
    const queue = openQueue(async () => ({}))
    const ids: string[] = []
    for (let at = 0; at < 5; at += 1) ids.unshift((await queue.enqueue(scope, request)).id)
    const first = await queue.list(scope, { limit: 3 })
    const second = await queue.list(scope, { limit: 3, cursor: first.nextCursor ?? '' })
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids)
    expect(second.nextCursor).toBeNull()
    await expect(queue.list(scope, { limit: 3, cursor: 'nonsense' })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'cursor' },
    })
    expect(await queue.countActive(scope.userId ?? '')).toBe(5)
    expect(await queue.active([...ids.slice(0, 2), newId('job')])).toEqual(new Set(ids.slice(0, 2)))
  })

  it('[JOB13] whatever two workers do in whatever order, an end is final and only the last attempt writes', async () => {
    const stores = [
      createJobStore({ database, node: 'one' }),
      createJobStore({ database, node: 'two' }),
    ] as const
    const step = fc.record({ worker: fc.nat(1), act: fc.constantFrom(...acts) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        await database.kysely.deleteFrom('jobs').execute()
        await stores[0].insert(scope, { ...request, unit: 'files', total: null, pinnedTo: null })
        const held: (JobRow | undefined)[] = [undefined, undefined]
        let latest = 0
        let ended: string | undefined
        for (const { worker, act } of steps) {
          const store = stores[worker] as (typeof stores)[0]
          const mine = held[worker]
          if (act === 'expire') await expireLeases()
          else if (act === 'claim') {
            const row = await store.claim(['import'])
            if (!row) continue
            expect(ended).toBeUndefined()
            expect(row.attempt).toBe(latest + 1)
            latest = row.attempt
            held[worker] = row
          } else if (act === 'cancel') {
            const rows = await store.cancel(scope)
            expect(rows.length).toBe(ended === undefined ? 1 : 0)
            ended ??= 'cancelled'
          } else if (mine) {
            const written = await write(store, mine, act)
            if (written) expect([written.attempt, ended]).toEqual([latest, undefined])
            if (written && act !== 'report' && act !== 'requeue') ended = written.state
          }
        }
        const [row] = await database.kysely.selectFrom('jobs').selectAll().execute()
        if (ended !== undefined) expect(row?.state).toBe(ended)
        else expect(['queued', 'running']).toContain(row?.state)
      }),
      { numRuns: 25 },
    )
  })

  const acts = ['claim', 'expire', 'report', 'succeed', 'fail', 'requeue', 'cancel'] as const

  function write(store: ReturnType<typeof createJobStore>, row: JobRow, act: (typeof acts)[number]) {
    const progress = { phase: 'p', done: 1, total: 1 }
    if (act === 'report') return store.report(row, progress)
    if (act === 'succeed') return store.succeed(row, progress, {})
    if (act === 'fail') return store.fail(row, { code: 'X', message: 'x' })
    return store.requeue(row, { afterMilliseconds: 0, refund: false })
  }

  async function expireLeases(): Promise<void> {
    await database.kysely
      .updateTable('jobs')
      .set({ lease_until: sql<Date>`now() - interval '1 hour'` })
      .where('state', '=', 'running')
      .execute()
  }
})
