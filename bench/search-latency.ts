import { openTestDatabase, startPostgresServer } from '@atelier/testkit'
import { sql } from 'kysely'
import { newId } from '../packages/server/src/base/ids.ts'
import { hashedEmbedderId, hashedVector } from '../packages/server/src/features/retrieval/hashed-embedder.ts'
import {
  createHashedEmbedder,
  createRetrieval,
  type Retrieval,
} from '../packages/server/src/features/retrieval/index.ts'
import { vectorLiteral } from '../packages/server/src/features/retrieval/vector-literal.ts'
import type { Database } from '../packages/server/src/platform/db/database.ts'
import {
  grantWorkspaceScope,
  type WorkspaceScope,
} from '../packages/server/src/platform/identity/workspace-scope.ts'
import { interleave, round, summarise, writeResults } from './harness.ts'
import { packageFiles, type SourceText } from './retrieval/corpus.ts'
import { heldOut, tuning } from './retrieval/questions.ts'

/**
 * Milliseconds from the call to the results of `search`, eight of them, on both databases and workspaces of three sizes; and
 * what the same question costs when the database compares the vectors itself (`databaseScan`: one leg of four).
 */
const sizes = [1_000, 10_000, 20_000]
const rounds = 3
const questions = [...tuning, ...heldOut].map(({ question }) => question)
const never = new AbortController().signal

interface Site {
  name: string
  database: Database
  scopes: Map<number, WorkspaceScope>
}

await using stack = new AsyncDisposableStack()
const server = await startPostgresServer()
if ('unavailable' in server) console.warn(`PostgreSQL is left out: ${server.unavailable}`)
else process.env.ATELIER_TEST_DATABASE_URL = stack.use(server).url

const sites: Site[] = []
for (const engine of 'unavailable' in server ? (['pglite'] as const) : (['pglite', 'postgres'] as const)) {
  sites.push({ name: engine, database: stack.use(await openTestDatabase(engine)), scopes: new Map() })
}
const results: Record<string, Record<string, unknown>> = {}
for (const size of sizes) {
  for (const site of sites) site.scopes.set(size, await fill(site.database, size))
  results[`${size} chunks`] = await measure(size)
}
writeResults('search-latency', { questions: questions.length, rounds, results })

function open(database: Database): Retrieval {
  return createRetrieval({ database, embedder: createHashedEmbedder(), clock: Date.now, logger: console })
}

/** A workspace with real files of about this many chunks. */
async function fill(database: Database, chunks: number): Promise<WorkspaceScope> {
  const id = newId('workspace')
  await database.kysely
    .insertInto('workspaces')
    .values({ id, name: `${chunks} chunks` })
    .execute()
  const scope = grantWorkspaceScope({ workspaceId: id, userId: null, role: 'editor' })
  await using retrieval = open(database)
  let stored = 0
  for (const file of sources()) {
    const one = (async function* () {
      for (const { path, text } of file) yield { path, bytes: new TextEncoder().encode(text) }
    })()
    stored += (await retrieval.ingest(scope, one, { signal: never })).totals.chunks
    if (stored >= chunks) break
  }
  return scope
}

/** Real sources in pieces of a few dozen files. */
function* sources(): Generator<SourceText[]> {
  const packages = [
    'undici',
    'fastify',
    'ws',
    'zod',
    'mongodb',
    'bson',
    'pino',
    '@grpc/grpc-js',
    '@xterm/xterm',
    'kysely',
    'ai',
    'openai',
  ]
  for (const name of packages) {
    const files = packageFiles(name)
    for (let from = 0; from < files.length; from += 30) yield files.slice(from, from + 30)
  }
}

async function measure(size: number) {
  const measured: Record<string, unknown> = {}
  const contestants: Record<string, () => Promise<number[]>> = {}
  for (const { name, database, scopes } of sites) {
    const scope = scopes.get(size)
    if (scope === undefined) continue
    const retrieval = stack.use(open(database))
    const { chunks } = await retrieval.indexState(scope)
    const first = await timed(() => retrieval.search(scope, { query: 'the first question', limit: 8 }))
    measured[name] = { chunks, firstSearch: round(first) }
    contestants[`${name} search`] = () => each((query) => retrieval.search(scope, { query, limit: 8 }))
    contestants[`${name} databaseScan`] = () => each((query) => databaseScan(database, scope, query))
  }
  const rows = await interleave(rounds, contestants)
  const latencies = Object.fromEntries(
    Object.entries(rows).map(([name, times]) => [name, summarise(times.flat())]),
  )
  return { ...measured, milliseconds: latencies }
}

async function each(ask: (query: string) => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (const query of questions) times.push(await timed(() => ask(query)))
  return times
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

async function databaseScan(database: Database, scope: WorkspaceScope, query: string): Promise<void> {
  await database.inWorkspace(scope, (transaction) =>
    sql`select chunk_id from chunk_vectors where model = ${hashedEmbedderId} and workspace_id = ${scope.workspaceId}
      order by embedding <=> ${vectorLiteral(hashedVector(query))}::halfvec limit 8`.execute(transaction),
  )
}
