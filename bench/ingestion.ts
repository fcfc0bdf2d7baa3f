import { openTestDatabase, startPostgresServer } from '@atelier/testkit'
import { newId } from '../packages/server/src/base/ids.ts'
import { createHashedEmbedder, createRetrieval } from '../packages/server/src/features/retrieval/index.ts'
import type { Database } from '../packages/server/src/platform/db/database.ts'
import { grantWorkspaceScope } from '../packages/server/src/platform/identity/workspace-scope.ts'
import { interleave, median, round, writeResults } from './harness.ts'
import { packageFiles } from './retrieval/corpus.ts'

/**
 * Files per second from bytes to searchable, on a real tree (sources, tests and documentation of fastify and undici), into an
 * empty workspace; then the same files again, which have not changed; and the longest time the event loop was held up.
 */
const rounds = 3
const files = ['fastify', 'undici'].flatMap((name) => packageFiles(name, '**/*.{ts,js,mjs,md,json}'))
const bytes = files.map(({ path, text }) => ({ path, bytes: new TextEncoder().encode(text) }))
const never = new AbortController().signal

await using stack = new AsyncDisposableStack()
const server = await startPostgresServer()
if ('unavailable' in server) console.warn(`PostgreSQL is left out: ${server.unavailable}`)
else process.env.ATELIER_TEST_DATABASE_URL = stack.use(server).url

const contestants: Record<string, () => Promise<Figures>> = {}
for (const engine of 'unavailable' in server ? (['pglite'] as const) : (['pglite', 'postgres'] as const)) {
  const database = stack.use(await openTestDatabase(engine))
  contestants[engine] = () => run(database)
}
const rows = await interleave(rounds, contestants)
writeResults('ingestion', {
  files: files.length,
  megabytes: round(bytes.reduce((sum, file) => sum + file.bytes.length, 0) / 1e6, 1),
  rounds,
  results: Object.fromEntries(Object.entries(rows).map(([name, figures]) => [name, summary(figures)])),
})

interface Figures {
  filesPerSecond: number
  unchangedFilesPerSecond: number
  processorSeconds: number
  longestHoldUp: number
  chunks: number
}

async function run(database: Database): Promise<Figures> {
  const id = newId('workspace')
  await database.kysely.insertInto('workspaces').values({ id, name: 'bench' }).execute()
  const scope = grantWorkspaceScope({ workspaceId: id, userId: null, role: 'editor' })
  await using retrieval = createRetrieval({
    database,
    embedder: createHashedEmbedder(),
    clock: Date.now,
    logger: console,
  })
  const ingest = () => retrieval.ingest(scope, each(), { signal: never })
  const holdUp = watchEventLoop()
  const before = process.cpuUsage()
  const first = await timed(ingest)
  const { user, system } = process.cpuUsage(before)
  const longestHoldUp = holdUp.stop()
  const again = await timed(ingest)
  await database.kysely.deleteFrom('workspaces').where('id', '=', id).execute()
  return {
    filesPerSecond: files.length / first.seconds,
    unchangedFilesPerSecond: files.length / again.seconds,
    processorSeconds: (user + system) / 1e6,
    longestHoldUp,
    chunks: first.result.totals.chunks,
  }
}

async function* each() {
  yield* bytes
}

async function timed<Result>(work: () => Promise<Result>): Promise<{ result: Result; seconds: number }> {
  const started = performance.now()
  const result = await work()
  return { result, seconds: (performance.now() - started) / 1_000 }
}

/** The longest pause between two turns of a 5 ms timer, in milliseconds beyond those. */
function watchEventLoop(): { stop(): number } {
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last - 5)
    last = now
  }, 5)
  return {
    stop: () => {
      clearInterval(timer)
      return longest
    },
  }
}

function summary(figures: readonly Figures[]) {
  const of = (name: keyof Figures) => round(median(figures.map((own) => own[name])), 1)
  return {
    chunks: of('chunks'),
    filesPerSecond: of('filesPerSecond'),
    unchangedFilesPerSecond: of('unchangedFilesPerSecond'),
    processorSeconds: of('processorSeconds'),
    longestHoldUpMilliseconds: of('longestHoldUp'),
  }
}
