import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describeOnEveryDatabase, openTestDatabase } from '@atelier/testkit'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { AppError } from '../../packages/server/src/base/app-error.ts'
import { newId } from '../../packages/server/src/base/ids.ts'
import {
  createHashedEmbedder,
  createRetrieval,
  type Retrieval,
  type SourceFile,
} from '../../packages/server/src/features/retrieval/index.ts'
import type { Database } from '../../packages/server/src/platform/db/database.ts'
import {
  grantWorkspaceScope,
  type WorkspaceScope,
} from '../../packages/server/src/platform/identity/workspace-scope.ts'
import type { Embedder } from '../../packages/server/src/platform/models/embedder.ts'

const never = new AbortController().signal
const silent = { warn() {} }

function file(path: string, content: string | Uint8Array): SourceFile {
  return { path, bytes: typeof content === 'string' ? new TextEncoder().encode(content) : content }
}

async function* each(files: readonly SourceFile[]): AsyncGenerator<SourceFile> {
  yield* files
}

/** A working embedder of another space, which counts what it embeds and can be made to fail. */
function otherEmbedder(): Embedder & { embedded: number; failing: boolean } {
  const hashed = createHashedEmbedder()
  return {
    id: 'acme/other',
    dimensions: 64,
    lexical: true,
    pricing: null,
    embedded: 0,
    failing: false,
    async embed(texts, kind, signal) {
      if (this.failing) throw new Error('the provider is down')
      if (kind === 'document') this.embedded += texts.length
      const vectors = await hashed.embed(texts, kind, signal)
      return vectors.map((vector) => {
        const folded = new Float32Array(64)
        for (const [at, value] of vector.entries()) folded[at % 64] = (folded[at % 64] ?? 0) + value
        const length = Math.hypot(...folded) || 1
        return folded.map((value) => value / length)
      })
    },
  }
}

const retry = `import { wait } from './wait'

/** Milliseconds before the next attempt. */
export function computeRetryDelay(attempt: number, base: number): number {
  return Math.min(base * 2 ** attempt, 30_000)
}
`
const router = `export class Router {
  /** Finds the handler whose pattern matches a path. */
  match(path: string) {
    return this.routes.find((route) => route.pattern.test(path))
  }
}
`

describeOnEveryDatabase('retrieval', (engine) => {
  let database: Database
  let scope: WorkspaceScope
  let stack: AsyncDisposableStack
  let retrieval: Retrieval

  beforeAll(async () => {
    database = await openTestDatabase(engine)
  })
  afterAll(() => database[Symbol.asyncDispose]())
  beforeEach(async () => {
    stack = new AsyncDisposableStack()
    retrieval = open(createHashedEmbedder())
    scope = await newWorkspace()
  })
  afterEach(async () => {
    await stack.disposeAsync()
    await database.kysely.deleteFrom('workspaces').execute()
  })

  function open(embedder: Embedder): Retrieval {
    return stack.use(createRetrieval({ database, embedder, clock: Date.now, logger: silent }))
  }

  async function newWorkspace(): Promise<WorkspaceScope> {
    const workspaceId = newId('workspace')
    await database.kysely.insertInto('workspaces').values({ id: workspaceId, name: 'w' }).execute()
    return grantWorkspaceScope({ workspaceId, userId: newId('user'), role: 'editor' })
  }

  const ingest = (files: readonly SourceFile[], options: { by?: Retrieval; into?: WorkspaceScope } = {}) =>
    (options.by ?? retrieval).ingest(options.into ?? scope, each(files), { signal: never })

  const find = async (
    query: string,
    options: { by?: Retrieval; from?: WorkspaceScope; limit?: number } = {},
  ) => {
    const { by = retrieval, from = scope, limit = 5 } = options
    return (await by.search(from, { query, limit })).results
  }

  const rowsOf = async () => {
    const count = async (table: 'documents' | 'contents' | 'chunks' | 'chunk_vectors') => {
      const { rows } = await sql<{ count: number }>`select count(*) from ${sql.table(table)}`.execute(
        database.kysely,
      )
      return rows[0]?.count
    }
    const [documents, contents, chunks, vectors] = [
      await count('documents'),
      await count('contents'),
      await count('chunks'),
      await count('chunk_vectors'),
    ]
    return { documents, contents, chunks, vectors }
  }

  it('[RAG18] finds the lines that answer, with path, similarity, score and legs', async () => {
    const { files, totals } = await ingest([file('src/retry.ts', retry), file('src/router.ts', router)])
    expect(totals).toEqual({
      files: 2,
      indexed: 2,
      skipped: 0,
      failed: 0,
      bytes: retry.length + router.length,
      chunks: 2,
    })
    expect(files[0]).toMatchObject({
      name: 'src/retry.ts',
      language: 'typescript',
      chunks: 1,
      status: 'indexed',
    })
    expect(files[0]?.documentId).toMatch(/^doc_/)

    const answer = await retrieval.search(scope, { query: 'where is the retry delay computed?', limit: 5 })
    expect(answer.results[0]).toMatchObject({
      path: 'src/retry.ts',
      startLine: 1,
      endLine: 6,
      content: retry,
    })
    expect(answer.results[0]?.legs.map(({ leg, rank }) => [leg, rank])).toEqual([
      ['lexical', 1],
      ['vector', 1],
      ['symbol', 1],
      ['path', 1],
    ])
    expect(answer.results[0]?.similarity).toBeGreaterThan(0.3)
    expect(answer.context).toMatchObject({ workspaceId: scope.workspaceId, relevanceScore: 'high' })
    expect(answer.context.context).toContain('src/retry.ts:1-6\n```typescript\n')
    expect(answer.embeddingModel).toBe('local/hashed')
    expect((await find('how does the router match paths?'))[0]?.path).toBe('src/router.ts')
  })

  it('[RAG12] the same content costs nothing twice, under the same path or another', async () => {
    const embedder = otherEmbedder()
    const own = open(embedder)
    await ingest([file('a.ts', retry)], { by: own })
    const [before, cost] = [await rowsOf(), embedder.embedded]
    const [again] = (await ingest([file('a.ts', retry)], { by: own })).files
    expect(again).toMatchObject({ status: 'indexed', chunks: 1 })
    expect(await rowsOf()).toEqual(before)
    await ingest([file('b.ts', retry), file('c/d.ts', retry)], { by: own })
    expect(embedder.embedded).toBe(cost)
    expect(await rowsOf()).toEqual({ ...before, documents: 3 })
    expect((await find('retry delay', { by: own })).map(({ path }) => path)).toEqual(['a.ts'])
  })

  it('[RAG12] the same content twice in one ingestion is stored once', async () => {
    await ingest([file('a.ts', retry), file('b.ts', retry)])
    expect(await rowsOf()).toEqual({ documents: 2, contents: 1, chunks: 1, vectors: 1 })
  })

  it('[RAG29] a file that was cut or skipped by older rules is judged anew when it comes again', async () => {
    await ingest([file('a.ts', retry), file('b.ts', router)])
    await database.kysely.updateTable('contents').set({ indexer: 0 }).execute()
    await database.kysely
      .updateTable('documents')
      .set({ status: 'skipped', reason: 'vendored', content_id: null })
      .where('path', '=', 'b.ts')
      .execute()
    const { files } = await ingest([file('a.ts', retry), file('b.ts', router)])
    expect(files.map(({ status }) => status)).toEqual(['indexed', 'indexed'])
    const versions = await database.kysely.selectFrom('contents').select('indexer').distinct().execute()
    expect(versions).toEqual([{ indexer: 1 }])
    expect(await rowsOf()).toEqual({ documents: 2, contents: 2, chunks: 2, vectors: 2 })
    expect((await find('router match path'))[0]?.path).toBe('b.ts')
  })

  it('[RAG23] nothing of another workspace is found, counted or read', async () => {
    const foreign = await newWorkspace()
    await ingest([file('canary.ts', 'export const canaryTransmogrifier = 1\n')], { into: foreign })
    await ingest([file('a.ts', retry)])
    expect((await find('canaryTransmogrifier canary')).map(({ path }) => path)).not.toContain('canary.ts')
    expect((await find('canaryTransmogrifier', { from: foreign }))[0]?.path).toBe('canary.ts')
    expect(await retrieval.documents.read(scope, 'canary.ts')).toBeNull()
    expect((await retrieval.documents.list(scope)).map(({ path }) => path)).toEqual(['a.ts'])
    expect(await retrieval.remove(scope, 'canary.ts')).toBe(0)
    expect(await retrieval.documents.rename(scope, 'canary.ts', 'mine.ts')).toBe(false)
    expect(await retrieval.indexState(scope)).toMatchObject({ documents: 1, chunks: 1 })
    // Under the code stands row-level security: without a condition, the same statement sees its own rows only.
    for (const table of ['retrieval_indexes', 'contents', 'documents', 'chunks', 'chunk_vectors'] as const) {
      const seen = await database.inWorkspace(scope, (transaction) =>
        transaction.selectFrom(table).select('workspace_id').distinct().execute(),
      )
      expect(seen).toEqual([{ workspace_id: scope.workspaceId }])
    }
  })

  it('[RAG15] replacing and deleting leave nothing behind', async () => {
    await ingest([
      file('src/a.ts', retry),
      file('src/deep/b.ts', router),
      file('src.ts', 'export const other = 1\n'),
    ])
    await ingest([file('src/a.ts', router)])
    expect(await find('computeRetryDelay', { limit: 1 })).not.toMatchObject([{ content: retry }])
    expect(await rowsOf()).toEqual({ documents: 3, contents: 2, chunks: 2, vectors: 2 })
    expect(await retrieval.remove(scope, 'src', { folder: true })).toBe(2)
    expect((await find('router match path')).every(({ path }) => path === 'src.ts')).toBe(true)
    expect(await rowsOf()).toEqual({ documents: 1, contents: 1, chunks: 1, vectors: 1 })
    expect(await retrieval.remove(scope, 'src.ts')).toBe(1)
    expect(await rowsOf()).toEqual({ documents: 0, contents: 0, chunks: 0, vectors: 0 })
  })

  it('[RAG22] a renamed document is found under its new path at once', async () => {
    await ingest([file('a.ts', retry)])
    expect((await find('retry delay'))[0]?.path).toBe('a.ts')
    expect(await retrieval.documents.rename(scope, 'a.ts', 'lib/b.ts')).toBe(true)
    expect((await find('retry delay'))[0]?.path).toBe('lib/b.ts')
  })

  it('[RAG22] a search on another node sees what this one stored', async () => {
    const other = open(createHashedEmbedder())
    expect(await find('retry delay', { by: other })).toEqual([])
    await ingest([file('a.ts', retry)])
    expect((await find('retry delay', { by: other }))[0]?.path).toBe('a.ts')
    await ingest([file('b.ts', router)])
    expect((await find('router match', { by: other }))[0]?.path).toBe('b.ts')
    await retrieval.remove(scope, 'a.ts')
    expect((await find('retry delay', { by: other })).map(({ path }) => path)).not.toContain('a.ts')
  })

  it('[RAG22] ingestions and searches at once never fail and end with everything found', async () => {
    const names = Array.from({ length: 24 }, (_, index) => `zebra${String.fromCharCode(97 + index)}quagga`)
    const sources = names.map((name) =>
      file(`${name}.ts`, `export function ${name}() {\n  return shared\n}\n`),
    )
    await Promise.all([...sources.map((source) => ingest([source])), ...names.map((name) => find(name))])
    for (const name of names) expect((await find(name))[0]?.path).toBe(`${name}.ts`)
  })

  it('[RAG2] [RAG3] [RAG28] skipped files are told by reason, and the state of the index counts them', async () => {
    const { files } = await ingest([
      file('src/a.ts', retry),
      file('node_modules/x/index.js', 'x\n'),
      file('package-lock.json', '{}\n'),
      file('logo.png', Buffer.from([1, 2, 3])),
      file('latin.txt', Buffer.from('caf\xe9', 'latin1')),
      file('empty.ts', '  \n'),
      file('big.txt', new Uint8Array(1_048_577).fill(97)),
      file('min.js', `var a=1;${'f(a,b);'.repeat(2_000)}`),
      file('../evil.ts', retry),
    ])
    expect(files.map(({ name, status }) => [name, status])).toEqual([
      ['src/a.ts', 'indexed'],
      ['node_modules/x/index.js', 'skipped'],
      ['package-lock.json', 'skipped'],
      ['logo.png', 'skipped'],
      ['latin.txt', 'skipped'],
      ['empty.ts', 'skipped'],
      ['big.txt', 'skipped'],
      ['min.js', 'skipped'],
      ['../evil.ts', 'failed'],
    ])
    expect(files[4]?.reason).toBe('The file is neither UTF-8 nor UTF-16 with a byte order mark.')
    const state = await retrieval.indexState(scope)
    expect(state).toMatchObject({
      documents: 1,
      chunks: 1,
      vectors: 1,
      pending: 0,
      failed: 0,
      dimensions: 512,
    })
    expect(state.skipped).toHaveLength(7)
    expect((await retrieval.documents.read(scope, 'package-lock.json'))?.content).toBe('{}\n')
    expect((await retrieval.documents.read(scope, 'logo.png'))?.content).toBeNull()
  })

  it('[RAG4] a document is read as it was, and results quote it exactly, whatever its characters', async () => {
    const text = '\r\n// 𝒂𝒃𝒄 🦓 über\r\nexport function zebra() {\r\n  return "🦓"\r\n}\r\n\r\n# last'
    await ingest([file('z.ts', text)])
    expect((await retrieval.documents.read(scope, 'z.ts'))?.content).toBe(text)
    expect((await find('zebra')).map(({ content }) => content).join('')).toBe(text)
  })

  it('[RAG13] [RAG16] a file that cannot be read stops the ingestion, what was stored stays, the next run completes it', async () => {
    async function* broken() {
      for (let index = 0; index < 70; index += 1)
        yield file(`${index}.ts`, `export const value${index} = 1\n`)
      throw new Error('the disk is gone')
    }
    await expect(retrieval.ingest(scope, broken(), { signal: never })).rejects.toThrow('the disk is gone')
    expect((await retrieval.indexState(scope)).documents).toBe(64)
    const controller = new AbortController()
    controller.abort(new Error('enough'))
    await expect(
      retrieval.ingest(scope, each([file('a.ts', retry)]), { signal: controller.signal }),
    ).rejects.toThrow('enough')
    const progress: number[] = []
    const all = Array.from({ length: 70 }, (_, index) =>
      file(`${index}.ts`, `export const value${index} = 1\n`),
    )
    await retrieval.ingest(scope, each(all), { signal: never, onProgress: ({ done }) => progress.push(done) })
    expect(progress).toEqual([64, 70])
    expect((await retrieval.indexState(scope)).documents).toBe(70)
  })

  it('[RAG9] a compound word finds the one word or name that code makes of it, a language its code', async () => {
    await ingest([
      file('regexes.ts', 'export const email = /^\\S+@\\S+$/\n'),
      file('pool.ts', 'export class Pool {\n  roundRobin() {\n    return this.next()\n  }\n}\n'),
      file('locales/de.ts', "export const messages = { required: 'Pflichtfeld' }\n"),
      file('locales/fr.ts', "export const messages = { required: 'Obligatoire' }\n"),
      file('mailbox.ts', 'export function address(box: string) {\n  return "e" + box\n}\n'),
    ])
    for (const [question, path] of [
      ['what does an e-mail look like?', 'regexes.ts'],
      ['how does round-robin work?', 'pool.ts'],
      ['what are the German messages?', 'locales/de.ts'],
    ] as const) {
      expect([question, (await find(question))[0]?.path]).toEqual([question, path])
    }
  })

  it('[RAG17] a file that would make the index too large is reported as failed, and the others are stored', async () => {
    const own = stack.use(
      createRetrieval({
        database,
        embedder: createHashedEmbedder(),
        clock: Date.now,
        logger: silent,
        maxChunks: 3,
      }),
    )
    const two = [file('a.ts', retry), file('b.ts', router)]
    expect((await ingest(two, { by: own })).totals).toMatchObject({ indexed: 2, chunks: 2 })
    const sections = Array.from({ length: 4 }, (_, at) => `# Part ${at}\n\n${'word '.repeat(400)}\n`).join(
      '\n',
    )
    const { files, totals } = await ingest(
      [file('large.md', sections), file('c.ts', 'export const c = 1\n')],
      {
        by: own,
      },
    )
    expect(totals).toMatchObject({ indexed: 1, failed: 1 })
    expect(files.find(({ name }) => name === 'large.md')?.reason).toBe(
      'The index of this workspace is full: 3 chunks.',
    )
    expect(await own.indexState(scope)).toMatchObject({ chunks: 3, failed: 1 })
  })

  it('[RAG30] while the database is away an ingestion stops without a failed file, and goes on where it was', async () => {
    let left = Number.POSITIVE_INFINITY
    const away: Database = {
      ...database,
      inWorkspace: async (own, work) => {
        left -= 1
        if (left < 0) throw new AppError('SERVICE_UNAVAILABLE', 'The database does not answer')
        return await database.inWorkspace(own, work)
      },
    }
    const own = stack.use(
      createRetrieval({ database: away, embedder: createHashedEmbedder(), clock: Date.now, logger: silent }),
    )
    const all = Array.from({ length: 200 }, (_, index) =>
      file(`${index}.ts`, `export const value${index} = 1\n`),
    )
    let stored = 0
    for (const allowed of [0, 1, 2, 3, 4, 5, 6]) {
      left = allowed
      await expect(ingest(all, { by: own })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
      left = Number.POSITIVE_INFINITY
      const { documents, failed } = await own.indexState(scope)
      expect(failed).toBe(0)
      expect(documents).toBeGreaterThanOrEqual(stored)
      stored = documents
    }
    expect(stored).toBeGreaterThan(0)
    expect((await ingest(all, { by: own })).totals).toMatchObject({ indexed: 200, failed: 0 })
    expect(await own.indexState(scope)).toMatchObject({
      documents: 200,
      chunks: 200,
      vectors: 200,
      failed: 0,
    })
  })

  it('[RAG14] [RAG25] without its embedder, files are stored and found by words; reembed adds what is missing', async () => {
    const embedder = otherEmbedder()
    const own = open(embedder)
    embedder.failing = true
    const { totals } = await ingest([file('a.ts', retry), file('b.ts', router)], { by: own })
    expect(totals).toMatchObject({ indexed: 2, failed: 0 })
    expect(await own.indexState(scope)).toMatchObject({ chunks: 2, vectors: 0, pending: 2 })
    const [byWords] = await find('retry delay', { by: own })
    expect(byWords).toMatchObject({ path: 'a.ts', similarity: null })
    await expect(own.reembed(scope, { signal: never })).rejects.toThrow('the provider is down')

    embedder.failing = false
    const progress: unknown[] = []
    const done = await own.reembed(scope, { signal: never, onProgress: (step) => progress.push(step) })
    expect([done, progress]).toEqual([{ embedded: 2 }, [{ done: 2, total: 2 }]])
    expect(await own.indexState(scope)).toMatchObject({ vectors: 2, pending: 0 })
    const [found] = await find('retry delay', { by: own })
    expect(found?.legs.map(({ leg }) => leg)).toContain('vector')
    expect(await own.reembed(scope, { signal: never })).toEqual({ embedded: 0 })
  })

  it('[RAG11] [RAG24] another embedder: words until its vectors are there, then the old ones are gone', async () => {
    await ingest([file('a.ts', retry), file('b.ts', router)])
    const embedder = otherEmbedder()
    const changed = open(embedder)
    expect(await changed.indexState(scope)).toMatchObject({
      embeddingModel: 'acme/other',
      vectors: 0,
      pending: 2,
    })
    const [before] = await find('retry delay', { by: changed })
    expect(before).toMatchObject({ path: 'a.ts', similarity: null })
    expect(before?.legs.map(({ leg }) => leg)).not.toContain('vector')
    await changed.reembed(scope, { signal: never })
    const [after] = await find('retry delay', { by: changed })
    expect(after?.similarity).toBeGreaterThan(0)
    expect((await rowsOf()).vectors).toBe(2)
  })

  it('[RAG21] with a threshold, only what is that similar', async () => {
    await ingest([file('a.ts', retry), file('b.ts', router)])
    const all = await retrieval.search(scope, { query: 'retry delay', limit: 5, threshold: 0 })
    const best = all.results[0]?.similarity ?? 0
    const some = await retrieval.search(scope, { query: 'retry delay', limit: 5, threshold: best - 0.01 })
    expect(some.results.map(({ path }) => path)).toEqual(['a.ts'])
    const none = await retrieval.search(scope, { query: 'retry delay', limit: 5, threshold: 1 })
    expect([none.results, none.context.relevanceScore]).toEqual([[], null])
  })

  it('[RAG27] a context keeps to its budget, and is empty when nothing is relevant or the workspace is', async () => {
    expect(await retrieval.contextFor(scope, 'anything', 500)).toEqual({
      passages: [],
      text: '',
      relevanceScore: null,
    })
    await ingest([file('a.ts', retry), file('b.ts', router)])
    const context = await retrieval.contextFor(scope, 'where is the retry delay computed?', 120)
    expect(context.relevanceScore).toBe('high')
    expect(context.passages[0]).toMatchObject({ path: 'a.ts', startLine: 1, language: 'typescript' })
    expect(context.passages[0]?.contentSha256).toMatch(/^[0-9a-f]{64}$/)
    expect(context.text.length / 4).toBeLessThanOrEqual(120)
    const off = await retrieval.contextFor(scope, 'zzyzx quuxification of flumps', 500)
    expect([off.passages, off.relevanceScore]).toEqual([[], null])
  })

  it('[RAG18] [RAG20] questions about real sources find the lines that answer them', async () => {
    const resolve = createRequire(import.meta.url).resolve
    const undici = join(dirname(resolve('undici/package.json')), 'lib')
    const fastify = dirname(resolve('fastify/package.json'))
    const files = [
      ...(await tree(join(undici, 'handler'), 'undici/handler')),
      ...(await tree(join(fastify, 'lib'), 'fastify/lib')),
      { path: 'fastify/docs/Hooks.md', bytes: await readFile(join(fastify, 'docs/Reference/Hooks.md')) },
    ]
    await ingest(files)
    for (const [question, path, line] of [
      [
        'where is the Retry-After header parsed?',
        'undici/handler/retry-handler.js',
        'calculateRetryAfterHeader (',
      ],
      ['how are redirects followed?', 'undici/handler/redirect-handler.js', 'class RedirectHandler'],
      [
        'how is a content type parser removed?',
        'fastify/lib/content-type-parser.js',
        'function removeContentTypeParser',
      ],
      ['how is the prefix of a route built?', 'fastify/lib/plugin-override.js', 'function buildRoutePrefix'],
      ['what do the docs say about the onRequest hook?', 'fastify/docs/Hooks.md', 'onRequest'],
    ] as const) {
      const results = await find(question, { limit: 5 })
      const hit = results.findIndex((result) => result.path === path && result.content.includes(line))
      expect({ question, hit }).toEqual({
        question,
        hit: expect.toSatisfy((rank: number) => rank >= 0 && rank < 3),
      })
    }
  })
})

async function tree(folder: string, name: string): Promise<SourceFile[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile())
  return await Promise.all(
    files.map(async (entry) => {
      const whole = join(entry.parentPath, entry.name)
      return { path: `${name}${whole.slice(folder.length)}`, bytes: await readFile(whole) }
    }),
  )
}
