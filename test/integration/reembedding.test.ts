import type { Job } from '@atelier/contract'
import { describeOnEveryDatabase, openTestDatabase } from '@atelier/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { newId } from '../../packages/server/src/base/ids.ts'
import {
  createHashedEmbedder,
  createReembedding,
  createRetrieval,
  type Retrieval,
} from '../../packages/server/src/features/retrieval/index.ts'
import type { Database } from '../../packages/server/src/platform/db/database.ts'
import {
  grantWorkspaceScope,
  type WorkspaceScope,
} from '../../packages/server/src/platform/identity/workspace-scope.ts'
import { createJobQueue, type JobQueue } from '../../packages/server/src/platform/jobs/job-queue.ts'
import type { Embedder } from '../../packages/server/src/platform/models/embedder.ts'
import { ProviderError } from '../../packages/server/src/platform/models/provider-error.ts'

const silent = { info() {}, warn() {}, error() {} }
const never = new AbortController().signal
const chunks = 300

/** A provider's embedder: it embeds what it is let, waits at the gate for the rest, and may be down. */
function providerEmbedder() {
  const hashed = createHashedEmbedder()
  const state = { down: false, gate: Promise.resolve(), documents: 0 }
  const embedder: Embedder = {
    ...hashed,
    id: 'acme/other',
    async embed(texts, kind, signal) {
      if (state.down) throw new ProviderError('transient', { provider: 'acme', model: 'acme/other' })
      if (kind === 'document' && state.documents > 0) await state.gate
      if (kind === 'document') state.documents += texts.length
      return await hashed.embed(texts, kind, signal)
    },
  }
  return { embedder, state }
}

describeOnEveryDatabase('re-embedding', (engine) => {
  let database: Database
  let scope: WorkspaceScope
  let stack: AsyncDisposableStack

  beforeAll(async () => {
    database = await openTestDatabase(engine)
  })
  afterAll(() => database[Symbol.asyncDispose]())
  beforeEach(async () => {
    stack = new AsyncDisposableStack()
    const workspaceId = newId('workspace')
    await database.kysely.insertInto('workspaces').values({ id: workspaceId, name: 'w' }).execute()
    scope = grantWorkspaceScope({ workspaceId, userId: newId('user'), role: 'editor' })
  })
  afterEach(async () => {
    await stack.disposeAsync()
    await database.kysely.deleteFrom('workspaces').execute()
  })

  /** What a start of the server makes of an embedder. */
  async function start(embedder: Embedder): Promise<{ retrieval: Retrieval; jobs: JobQueue }> {
    const retrieval = stack.use(createRetrieval({ database, embedder, clock: Date.now, logger: silent }))
    const jobs = stack.use(createJobQueue({ database, node: 'here', logger: silent }))
    const reembedding = stack.use(createReembedding({ jobs, retrieval, logger: silent }))
    await jobs.start()
    reembedding.start()
    return { retrieval, jobs }
  }

  async function ingest(retrieval: Retrieval) {
    async function* files() {
      for (let at = 0; at < chunks; at += 1) {
        const text = `export function parseRetryAfter${at}(header: string) {\n  return Number(header) + ${at}\n}\n`
        yield { path: `${at}.ts`, bytes: new TextEncoder().encode(text) }
      }
    }
    return await retrieval.ingest(scope, files(), { signal: never })
  }

  async function lastJob(jobs: JobQueue): Promise<Job | undefined> {
    return (await jobs.list(scope, { limit: 10 })).items[0]
  }

  it('[RAG24, RAG31] another embedder at a start: a job embeds anew, and search answers by words meanwhile', async () => {
    await using before = createRetrieval({
      database,
      embedder: createHashedEmbedder(),
      clock: Date.now,
      logger: silent,
    })
    await ingest(before)
    const { embedder, state } = providerEmbedder()
    const gate = Promise.withResolvers<void>()
    state.gate = gate.promise
    const { retrieval, jobs } = await start(embedder)

    await expect.poll(async () => (await lastJob(jobs))?.progress.done).toBeGreaterThan(0)
    expect(await lastJob(jobs)).toMatchObject({
      kind: 'reembed',
      state: 'running',
      progress: { phase: 'Embedding', total: chunks, unit: 'chunks' },
    })
    const { pending, vectors } = await retrieval.indexState(scope)
    expect([pending > 0, vectors > 0, pending + vectors]).toEqual([true, true, chunks])
    const [byWords] = (await retrieval.search(scope, { query: 'parse retry after 7', limit: 1 })).results
    expect(byWords).toMatchObject({ path: '7.ts', similarity: null })

    gate.resolve()
    await expect.poll(async () => (await lastJob(jobs))?.state).toBe('succeeded')
    expect((await lastJob(jobs))?.report).toEqual({ embedded: chunks })
    expect(await retrieval.indexState(scope)).toMatchObject({
      pending: 0,
      vectors: chunks,
      embeddingModel: 'acme/other',
    })
    const [byMeaning] = (await retrieval.search(scope, { query: 'parse retry after 7', limit: 1 })).results
    expect(byMeaning?.similarity).toBeGreaterThan(0)
  })

  it('[RAG14, RAG31] what could not be embedded when it came is embedded once the provider answers', async () => {
    const { embedder, state } = providerEmbedder()
    const { retrieval, jobs } = await start(embedder)
    state.down = true
    expect((await ingest(retrieval)).totals).toMatchObject({ indexed: chunks, failed: 0 })
    await expect.poll(async () => (await lastJob(jobs))?.kind).toBe('reembed')
    // Its first attempt may be over, and fails; those after it do not.
    state.down = false
    await expect.poll(() => retrieval.indexState(scope), { timeout: 60_000 }).toMatchObject({ pending: 0 })
    await expect.poll(async () => (await lastJob(jobs))?.state).toBe('succeeded')
  }, 90_000)

  it('[JOB14] of what nobody asked for, a workspace has one job at a time and keeps the last', async () => {
    const { embedder, state } = providerEmbedder()
    const gate = Promise.withResolvers<void>()
    state.gate = gate.promise
    state.documents = 1
    await using before = createRetrieval({
      database,
      embedder: createHashedEmbedder(),
      clock: Date.now,
      logger: silent,
    })
    await ingest(before)
    const { jobs } = await start(embedder)
    await expect.poll(async () => (await lastJob(jobs))?.state).toBe('running')
    const again = () => jobs.enqueueOnce(scope, { kind: 'reembed', input: {}, phase: 'Waiting' })
    await Promise.all([again(), again(), again()])
    expect((await jobs.list(scope, { limit: 10 })).items).toHaveLength(1)
    gate.resolve()
    await expect.poll(async () => (await lastJob(jobs))?.state).toBe('succeeded')
    const first = await lastJob(jobs)
    await again()
    await expect.poll(async () => (await lastJob(jobs))?.state).toBe('succeeded')
    const { items } = await jobs.list(scope, { limit: 10 })
    expect(items).toHaveLength(1)
    expect(items[0]?.id).not.toBe(first?.id)
  })
})
