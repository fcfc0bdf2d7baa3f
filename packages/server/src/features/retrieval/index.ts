import type { IndexState, RagContext, SearchResult } from '@atelier/contract'
import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../platform/db/database.ts'
import { grantWorkspaceScope, type WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { Embedder } from '../../platform/models/embedder.ts'
import { contextText, fitPassages, type QuestionContext } from './context.ts'
import { createDocumentStore, type DocumentEntry, type DocumentText } from './document-store.ts'
import type { EmbedFor } from './embed-for.ts'
import { createIndexingThread } from './indexing-thread.ts'
import { createIngest, type IngestOptions, type IngestResult } from './ingest.ts'
import { readsContent, type SourceFile, type UnreadFile } from './judge-file.ts'
import { languageOf } from './language.ts'
import { createReembed, type ReembedOptions } from './reembed.ts'
import { relevanceOf } from './relevance.ts'
import { createResidentIndexes } from './resident-indexes.ts'
import { createResidentStore } from './resident-store.ts'
import type { RetrievalLogger } from './retrieval-logger.ts'
import { createRetrievalStore } from './retrieval-store.ts'
import { createRanker } from './search.ts'
import { describeReason } from './skip-reason.ts'

export type { Passage, QuestionContext } from './context.ts'
export type { DocumentEntry, DocumentText } from './document-store.ts'
export { createHashedEmbedder, createHashedEmbeddingModel } from './hashed-embedder.ts'
export type { IngestOptions, IngestResult } from './ingest.ts'
export type { SourceFile, UnreadFile } from './judge-file.ts'
export { languageOf } from './language.ts'
export type { ReembedOptions } from './reembed.ts'
export { createReembedding } from './reembedding.ts'
export { retrievalFeature } from './retrieval-routes.ts'
export { describeReason } from './skip-reason.ts'

export interface SearchOptions {
  query: string
  /** 1 to 50 */
  limit: number
  /** least cosine similarity of a result; chunks without a vector have none and are left out then */
  threshold?: number | undefined
  signal?: AbortSignal | undefined
}

export interface SearchAnswer {
  query: string
  results: SearchResult[]
  context: RagContext
  embeddingModel: string
  tookMs: number
}

/** Documents of workspaces and the search over them. */
export interface Retrieval extends AsyncDisposable {
  /** Stores and indexes files; see `createIngest`. */
  ingest(
    scope: WorkspaceScope,
    files: AsyncIterable<SourceFile | UnreadFile>,
    options: IngestOptions,
  ): Promise<IngestResult>
  /** Rejects with AppError SERVICE_UNAVAILABLE when the index changes too fast to be read, or with the signal's reason. */
  search(scope: WorkspaceScope, options: SearchOptions): Promise<SearchAnswer>
  /** Passages of at most `budgetTokens` estimated tokens, best first; none when nothing relevant was found. */
  contextFor(
    scope: WorkspaceScope,
    question: string,
    budgetTokens: number,
    signal?: AbortSignal,
  ): Promise<QuestionContext>
  indexState(scope: WorkspaceScope): Promise<Omit<IndexState, 'changes'>>
  /** False for a file that may be handed to `ingest` unread. */
  readsContent(path: string, size: number): boolean
  readonly documents: {
    /** In the byte order of paths; continue with the last path as `after`. `folder` '' is all. */
    list(
      scope: WorkspaceScope,
      options?: { folder?: string; limit?: number; after?: string },
    ): Promise<DocumentEntry[]>
    read(scope: WorkspaceScope, path: string): Promise<DocumentText | null>
    /** False where there is no such document. Throws what the database throws when `to` is taken. */
    rename(scope: WorkspaceScope, from: string, to: string): Promise<boolean>
  }
  /** Removes a document, with `folder` also everything below that path; answers how many. */
  remove(scope: WorkspaceScope, path: string, options?: { folder?: boolean }): Promise<number>
  /** Removes the documents of `paths` in one transaction; answers how many. */
  removeAll(scope: WorkspaceScope, paths: readonly string[]): Promise<number>
  /** Embeds what lacks a vector of the present embedder; see `createReembed`. */
  reembed(scope: WorkspaceScope, options: ReembedOptions): Promise<{ embedded: number }>
  /** Calls `listener` when an ingestion had to leave chunks of a workspace without vectors. */
  onUnembedded(listener: (workspaceId: string) => void): void
  /** The workspaces that have chunks without a vector of the present embedder; ends when `signal` aborts. */
  unembeddedWorkspaces(signal: AbortSignal): AsyncIterable<string>
}

/** Version of the rules that texts are cut and tokenised by; contents of an older one are cut again when they come again. */
const indexer = 1

/** Chunks that a workspace may have: some ten million lines. It bounds the memory and the time of a search. */
const maxChunksPerWorkspace = 200_000

/** Passages looked at when a context is filled. */
const contextCandidates = 40
const defaultListLimit = 10_000

export function createRetrieval(dependencies: {
  database: Database
  embedder: Embedder
  /** the embedder itself unless told */
  embed?: EmbedFor | undefined
  clock: Clock
  logger: RetrievalLogger
  /** 200,000 unless told */
  maxChunks?: number
}): Retrieval {
  const { database, embedder, clock, logger } = dependencies
  const embed = dependencies.embed ?? ((_scope, ...call) => embedder.embed(...call))
  const space = { model: embedder.id, dimensions: embedder.dimensions }
  const store = createRetrievalStore({ database, indexer })
  const documents = createDocumentStore({ database })
  const residentStore = createResidentStore({ database, space })
  const indexes = createResidentIndexes({ store: residentStore, dimensions: space.dimensions })
  const thread = createIndexingThread()
  const rank = createRanker({ store: residentStore, indexes, embedder, embed, logger })
  const maxChunks = dependencies.maxChunks ?? maxChunksPerWorkspace
  const listeners = new Set<(workspaceId: string) => void>()
  const onUnembedded = (workspaceId: string) => {
    for (const listener of listeners) listener(workspaceId)
  }
  return {
    ingest: createIngest({ store, thread, embedder, embed, indexer, maxChunks, onUnembedded, logger }),
    reembed: createReembed({ store, embedder, embed }),
    onUnembedded: (listener) => void listeners.add(listener),
    async *unembeddedWorkspaces(signal) {
      for (const workspaceId of await store.workspaces()) {
        if (signal.aborted) return
        const scope = grantWorkspaceScope({ workspaceId, userId: null, role: 'viewer' })
        if ((await store.countWithoutVectors(scope, space)) > 0) yield workspaceId
      }
    },

    async search(scope, { query, limit, threshold = null, signal = new AbortController().signal }) {
      const started = clock()
      const { passages, evidence } = await rank(scope, { query, limit, threshold, signal })
      return {
        query,
        results: passages.map(({ chunkId: _, contentSha256: __, ...result }) => result),
        context: {
          context: contextText(passages),
          workspaceId: scope.workspaceId,
          relevanceScore: passages.length === 0 ? null : relevanceOf(evidence),
        },
        embeddingModel: embedder.id,
        tookMs: clock() - started,
      }
    },

    async contextFor(scope, question, budgetTokens, signal = new AbortController().signal) {
      const found = await rank(scope, { query: question, limit: contextCandidates, threshold: null, signal })
      const relevanceScore = found.passages.length === 0 ? null : relevanceOf(found.evidence)
      const passages = relevanceScore === null ? [] : fitPassages(found.passages, budgetTokens)
      return { passages, text: contextText(passages), relevanceScore }
    },

    async indexState(scope) {
      const { statuses, chunks, vectors, failed, updatedAt } = await documents.state(scope, space)
      const skipped = statuses.filter(({ status }) => status === 'skipped')
      return {
        workspaceId: scope.workspaceId,
        documents: statuses
          .filter(({ status }) => status === 'indexed')
          .reduce((sum, { files }) => sum + files, 0),
        chunks,
        vectors,
        pending: chunks - vectors,
        skipped: skipped.map(({ reason, files }) => ({ reason: describeReason(reason ?? ''), files })),
        failed,
        embeddingModel: space.model,
        dimensions: space.dimensions,
        updatedAt: updatedAt?.toISOString() ?? null,
      }
    },

    documents: {
      list: (scope, { folder = '', limit = defaultListLimit, after = '' } = {}) =>
        documents.list(scope, { folder, limit, after }),
      read: (scope, path) => documents.read(scope, path),
      rename: (scope, from, to) => store.rename(scope, from, { path: to, language: languageOf(to) }),
    },
    removeAll: store.removeAll,
    readsContent,
    remove: (scope, path, { folder = false } = {}) => store.remove(scope, path, { folder }),
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  }
}
