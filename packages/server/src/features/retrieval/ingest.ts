import type { ErrorCode, IngestedFile, IngestTotals } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { Embedder } from '../../platform/models/embedder.ts'
import { contentKey } from './content-key.ts'
import type { EmbedFor } from './embed-for.ts'
import { embeddingText } from './embedding-text.ts'
import type { IndexedChunk } from './indexing-messages.ts'
import type { IndexingThread } from './indexing-thread.ts'
import { type JudgedFile, judgeFile, type SourceFile, type UnreadFile } from './judge-file.ts'
import type { RetrievalLogger } from './retrieval-logger.ts'
import type { PreparedFile, RetrievalStore, StoredContent, StoredDocument } from './retrieval-store.ts'
import { describeReason, skippedForText } from './skip-reason.ts'

/** Files that are held, embedded and written together. */
const filesPerBatch = 64
const bytesPerBatch = 2 * 1_048_576
/** Batches that may fail to be embedded before an ingestion stops asking: a provider that is down stays down. */
const maxEmbedFailures = 2
/** Files that may fail to be stored, one after another, before the rest of a batch is given up. */
const maxStoreFailures = 3

export interface IngestOptions {
  signal: AbortSignal
  onProgress?(progress: { done: number }): void
}

export interface IngestResult {
  files: IngestedFile[]
  totals: IngestTotals
}

export interface IngestDependencies {
  store: RetrievalStore
  thread: IndexingThread
  embedder: Embedder
  embed: EmbedFor
  /** version of the rules that contents are cut by */
  indexer: number
  /** chunks that a workspace may have */
  maxChunks: number
  /** told of a workspace where chunks had to be left without vectors */
  onUnembedded(workspaceId: string): void
  logger: RetrievalLogger
}

interface IngestRun extends IngestDependencies {
  scope: WorkspaceScope
  signal: AbortSignal
  embedFailures: number
  /** in the workspace, as far as this run knows */
  chunksSoFar: number
}

/**
 * Stores and indexes files in the order they come, a batch at a time. What is stored already is recognised by its hash and
 * costs nothing. A file that fails is reported and does not stop the others; vectors that cannot be had are left to
 * `reembed`. Rejects with the signal's reason, with what `files` throws, and with SERVICE_UNAVAILABLE or TIMEOUT of the
 * database; what was stored stays.
 */
export function createIngest(dependencies: IngestDependencies) {
  return async (
    scope: WorkspaceScope,
    files: AsyncIterable<SourceFile | UnreadFile>,
    { signal, onProgress }: IngestOptions,
  ): Promise<IngestResult> => {
    const chunksSoFar = await dependencies.store.countChunks(scope)
    const run: IngestRun = { ...dependencies, scope, signal, embedFailures: 0, chunksSoFar }
    const results: IngestedFile[] = []
    const finish = async (outcomes: Promise<Outcome[]>): Promise<void> => {
      results.push(...(await finishBatch(run, await outcomes)))
      onProgress?.({ done: results.length })
    }
    // One batch is cut while the one before is embedded and written: they keep different threads busy.
    let before: { paths: ReadonlySet<string>; finished: Promise<void> } = {
      paths: new Set(),
      finished: Promise.resolve(),
    }
    try {
      for await (const batch of inBatches(files)) {
        signal.throwIfAborted()
        if (batch.some(({ path }) => before.paths.has(path))) await before.finished
        const outcomes = prepareBatch(run, batch)
        // Its failure is met below, once the batch before is done.
        outcomes.catch(() => {})
        await before.finished
        before = { paths: new Set(batch.map(({ path }) => path)), finished: finish(outcomes) }
        before.finished.catch(() => {})
      }
    } finally {
      await before.finished.finally(() => {
        if (run.embedFailures > 0) run.onUnembedded(scope.workspaceId)
      })
    }
    signal.throwIfAborted()
    return { files: results, totals: totalsOf(results) }
  }
}

/** A path comes at most once in a batch, since a statement cannot write a row twice. */
async function* inBatches(files: AsyncIterable<SourceFile | UnreadFile>): AsyncGenerator<JudgedFile[]> {
  let batch = new Map<string, JudgedFile>()
  let bytes = 0
  for await (const file of files) {
    if (batch.has(file.path) || batch.size >= filesPerBatch || bytes >= bytesPerBatch) {
      yield [...batch.values()]
      batch = new Map()
      bytes = 0
    }
    batch.set(file.path, judgeFile(file))
    bytes += 'bytes' in file ? file.bytes.length : 0
  }
  if (batch.size > 0) yield [...batch.values()]
}

/** A file with what is to be stored of it; null: it is stored as it is already. */
interface Outcome {
  file: JudgedFile
  write: PreparedFile | null
  result: Omit<IngestedFile, 'documentId'> & { documentId: string | null }
}

async function prepareBatch(run: IngestRun, files: readonly JudgedFile[]): Promise<Outcome[]> {
  const valid = files.filter(({ verdict }) => verdict.kind !== 'fail')
  const stored = await run.store.existing(run.scope, valid)
  const documents = new Map(stored.documents.map((document) => [document.path, document]))
  const contents = new Map(stored.contents.map((content) => [contentKey(content), content]))
  return await Promise.all(
    files.map((file) => prepare(run, file, documents.get(file.path), contents.get(contentKey(file)))),
  )
}

async function finishBatch(run: IngestRun, outcomes: Outcome[]): Promise<IngestedFile[]> {
  for (const outcome of outcomes) admit(run, outcome)
  await embedAll(run, outcomes)
  const ids = await writeAll(run, outcomes)
  return outcomes.map(({ file, write, result }) => {
    if (write === null || result.status === 'failed') return result
    const documentId = ids.get(file.path)
    return documentId === undefined
      ? failed(file, 'The file could not be stored.')
      : { ...result, documentId }
  })
}

async function prepare(
  run: IngestRun,
  file: JudgedFile,
  document: StoredDocument | undefined,
  content: StoredContent | undefined,
): Promise<Outcome> {
  if (file.verdict.kind === 'fail') return { file, write: null, result: failed(file, file.verdict.reason) }
  if (document !== undefined && isUnchanged(run, file, document, content)) {
    return { file, write: null, result: storedResult(file, document, content) }
  }
  if (file.verdict.kind === 'skip') return skip(file, file.verdict.reason, content)
  if (content?.indexer === run.indexer) return index(file, { text: null, chunks: [], count: content.chunks })
  const text = file.text ?? ''
  try {
    const indexed = await run.thread.index(text, file.language)
    if (indexed.kind === 'skipped') return skip(file, indexed.reason, content)
    return index(file, { text, chunks: indexed.chunks, count: indexed.chunks.length })
  } catch (error) {
    run.logger.warn(
      { err: error, workspaceId: run.scope.workspaceId, path: file.path },
      'a file could not be indexed',
    )
    return fail(file, 'The file could not be indexed.')
  }
}

function isUnchanged(
  run: IngestRun,
  file: JudgedFile,
  document: StoredDocument,
  content: StoredContent | undefined,
): boolean {
  const same = document.contentSha256 === file.contentSha256 && document.language === file.language
  if (!same || document.status === 'failed') return false
  if (document.status === 'indexed') return file.verdict.kind === 'index' && content?.indexer === run.indexer
  // The rules may have changed since; only what the text decides is not judged again.
  return file.verdict.kind === 'skip'
    ? file.verdict.reason === document.reason
    : skippedForText(document.reason)
}

function storedResult(
  file: JudgedFile,
  document: StoredDocument,
  content: StoredContent | undefined,
): IngestedFile {
  const chunks = document.status === 'indexed' ? (content?.chunks ?? 0) : 0
  const result = { ...describeFile(file), documentId: document.id, chunks, status: document.status }
  return document.reason === null ? result : { ...result, reason: describeReason(document.reason) }
}

function skip(file: JudgedFile, reason: string, content: StoredContent | undefined): Outcome {
  const text = content === undefined ? file.text : null
  const write: PreparedFile = { ...keyOf(file), status: 'skipped', reason, text, chunks: [], vectors: null }
  const result = { ...describeFile(file), documentId: null, chunks: 0, status: 'skipped' as const }
  return { file, write, result: { ...result, reason: describeReason(reason) } }
}

function index(
  file: JudgedFile,
  content: { text: string | null; chunks: readonly IndexedChunk[]; count: number },
): Outcome {
  const { text, chunks, count } = content
  return {
    file,
    write: { ...keyOf(file), status: 'indexed', reason: null, text, chunks, vectors: null },
    result: { ...describeFile(file), documentId: null, chunks: count, status: 'indexed' },
  }
}

function fail(file: JudgedFile, reason: string): Outcome {
  const write: PreparedFile = {
    ...keyOf(file),
    status: 'failed',
    reason,
    text: null,
    chunks: [],
    vectors: null,
  }
  return { file, write, result: failed(file, reason) }
}

/** Turns a file down that would make the index larger than it may be. */
function admit(run: IngestRun, outcome: Outcome): void {
  const chunks = outcome.write?.chunks.length ?? 0
  if (run.chunksSoFar + chunks > run.maxChunks) {
    Object.assign(
      outcome,
      fail(outcome.file, `The index of this workspace is full: ${run.maxChunks} chunks.`),
    )
  } else {
    run.chunksSoFar += chunks
  }
}

/** Embeds the new chunks of a batch. Without vectors they are found by their words; `reembed` adds what is missing. */
async function embedAll(run: IngestRun, outcomes: readonly Outcome[]): Promise<void> {
  const files = outcomes.flatMap(({ file, write }) =>
    write === null || write.chunks.length === 0
      ? []
      : [{ write, texts: textsOf(write.chunks, file.text ?? '') }],
  )
  if (files.length === 0 || run.embedFailures >= maxEmbedFailures) return
  try {
    const vectors = await run.embed(
      run.scope,
      files.flatMap(({ texts }) => texts),
      'document',
      run.signal,
    )
    let from = 0
    for (const { write, texts } of files) {
      write.vectors = vectors.slice(from, from + texts.length)
      from += texts.length
    }
  } catch (error) {
    run.signal.throwIfAborted()
    run.embedFailures += 1
    run.logger.warn({ err: error, workspaceId: run.scope.workspaceId }, 'vectors are left for later')
  }
}

function textsOf(chunks: readonly IndexedChunk[], text: string): string[] {
  let from = 0
  return chunks.map((chunk) => {
    const content = text.slice(from, from + chunk.length)
    from += chunk.length
    return embeddingText({ ...chunk, content })
  })
}

/**
 * All in one transaction; if that fails, one by one, so that one file cannot hold back the others. Each is then prepared
 * anew, since what failed may be that a content was removed after it had been found.
 */
async function writeAll(run: IngestRun, outcomes: Outcome[]): Promise<Map<string, string>> {
  const files = outcomes.flatMap(({ write }) => (write === null ? [] : [write]))
  if (files.length === 0) return new Map()
  const space = { model: run.embedder.id, dimensions: run.embedder.dimensions }
  const warn = (error: unknown, message: string) =>
    run.logger.warn({ err: error, workspaceId: run.scope.workspaceId }, message)
  try {
    return await run.store.write(run.scope, files, space)
  } catch (error) {
    // That is no fault of a file; but a batch may be too much for one statement where a file is not.
    if (codeOf(error) === 'SERVICE_UNAVAILABLE') throw error
    warn(error, 'a batch of files could not be stored; they are tried one by one')
  }
  const ids = new Map<string, string>()
  let failures = 0
  for (const outcome of outcomes) {
    if (outcome.write === null) continue
    if (failures >= maxStoreFailures) break
    run.signal.throwIfAborted()
    try {
      Object.assign(outcome, await prepare(run, outcome.file, undefined, undefined))
      await embedAll(run, [outcome])
      const [id] =
        outcome.write === null ? [] : (await run.store.write(run.scope, [outcome.write], space)).values()
      if (id !== undefined) ids.set(outcome.file.path, id)
      failures = 0
    } catch (error) {
      run.signal.throwIfAborted()
      if (codeOf(error) === 'SERVICE_UNAVAILABLE' || codeOf(error) === 'TIMEOUT') throw error
      failures += 1
      warn(error, 'a file could not be stored')
    }
  }
  return ids
}

function codeOf(error: unknown): ErrorCode | undefined {
  return error instanceof AppError ? error.code : undefined
}

function keyOf({ path, bytes, contentSha256, language }: JudgedFile) {
  return { path, bytes, contentSha256, language }
}

function describeFile({ path, bytes, language }: JudgedFile) {
  return { name: path, bytes, language }
}

function failed(file: JudgedFile, reason: string): IngestedFile {
  return { ...describeFile(file), documentId: null, chunks: 0, status: 'failed', reason }
}

function totalsOf(files: readonly IngestedFile[]): IngestTotals {
  const count = (status: IngestedFile['status']) => files.filter((file) => file.status === status).length
  return {
    files: files.length,
    indexed: count('indexed'),
    skipped: count('skipped'),
    failed: count('failed'),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    chunks: files.reduce((sum, file) => sum + file.chunks, 0),
  }
}
