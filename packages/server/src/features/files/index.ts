import type { DirectoryChange, IndexState } from '@atelier/contract'
import type { Database } from '../../platform/db/database.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'
import type { Retrieval } from '../retrieval/index.ts'
import type { WorkspaceSessions } from '../sessions/index.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'
import { createFileChanges, type FileChanges } from './change-files.ts'
import { mountChangeRoutes } from './change-routes.ts'
import { createDirectoryStore } from './directory-store.ts'
import { type Files, createFiles as filesFrom } from './files.ts'
import { mountFilesRoutes } from './files-routes.ts'
import { createFilesStore, type FileFacts, type FilesStore } from './files-store.ts'
import { type PrepareDirectory, createPrepareDirectory as prepareWith } from './fill-directory.ts'
import { createImportTarget, type ImportTarget } from './import-target.ts'
import { createLiveDirectory } from './live-directory.ts'
import { createLiveFiles } from './live-files.ts'
import type { IndexingFacts } from './live-listing.ts'
import { createLookIntoFiles, type LookIntoFiles } from './look-into-files.ts'
import { createReindexer } from './reindex/reindexer.ts'
import type { SearchDocuments } from './reindex/search-documents.ts'
import { createSearchFiles, type SearchFiles } from './search-files.ts'
import { createFileStreams, type FileStreams } from './stream-files.ts'
import { mountStreamRoutes } from './stream-routes.ts'
import { mountWatchRoutes } from './watch-routes.ts'
import { createWorkspaceFiles } from './workspace-files.ts'

export { maxListedEntries } from './directory-listing.ts'
export type { Files, FileText } from './files.ts'
export type { PrepareDirectory } from './fill-directory.ts'
export type { ImportTarget } from './import-target.ts'
export { maxChangeReaders, maxChangeReadersPerUser } from './reindex/change-feed.ts'
export { maxIndexedFiles } from './reindex/whole-pass.ts'

/** Documents as a tree of files: all there is where workspaces cannot be started. */
export function createFiles(dependencies: {
  database: Database
  describeReason(reason: string): string
}): Files {
  return filesFrom({ ...dependencies, store: createFilesStore(dependencies) })
}

/** What a workspace's directory needs before anybody uses it; for the sessions, which know when that is. */
export function createPrepareDirectory({
  database,
  node,
}: {
  database: Database
  /** id of the data directory */
  node: string
}): PrepareDirectory {
  return prepareWith({ store: createDirectoryStore({ database }), node })
}

/** Everything about the files of workspaces. Disposing ends the indexing; dispose the sessions after it. */
export interface FileParts extends AsyncDisposable {
  readonly files: Files
  readonly imports: ImportTarget
  readonly changes: FileChanges
  readonly streams: FileStreams
  readonly search: SearchFiles
  /** for the tools of a model */
  readonly look: LookIntoFiles
  /** How far search is behind the directory of a workspace. */
  indexing(workspaceId: string): IndexState['changes']
  /** What changes in the directory of a workspace; ends when `signal` aborts. */
  watch(reader: { workspaceId: string; userId: string }, signal: AbortSignal): AsyncIterable<DirectoryChange>
}

export interface FilePartsDependencies {
  database: Database
  sessions: Pick<WorkspaceSessions, 'use' | 'running' | 'touch' | 'onStart'>
  /** `null` where workspaces can be started here; else why not, and what helps */
  obstacle(): Promise<string | null>
  retrieval: Pick<Retrieval, 'ingest' | 'readsContent' | 'removeAll' | 'documents'>
  describeReason(reason: string): string
  languageOf(path: string, text?: string): string | null
  logger: { warn(fields: object, message: string): void }
}

export function createFileParts(dependencies: FilePartsDependencies): FileParts {
  const { database, sessions, languageOf, describeReason, logger } = dependencies
  const store = createFilesStore({ database })
  const directories = createDirectoryStore({ database })
  const documents = searchDocuments(dependencies.retrieval, directories)
  const live = createLiveDirectory(dependencies)
  const reindexer = createReindexer({ documents, logger })
  sessions.onStart((workspaceId: string, client: AgentClient) => reindexer.follow(workspaceId, client))
  const directory = createLiveFiles({
    live,
    languageOf,
    factsOf: async (scope, paths) => ({
      known: await indexingFacts(store, scope, { paths, describeReason }),
      isPending: (path) => reindexer.isPending(scope.workspaceId, path),
    }),
  })
  const search = createSearchFiles({ live })
  return {
    files: createWorkspaceFiles({ live, directory, documents: createFiles({ database, describeReason }) }),
    imports: createImportTarget({ live, reindexer, documents, nodeOf: directories.node }),
    changes: createFileChanges({ live, changed: reindexer.changed }),
    streams: createFileStreams({ live }),
    search,
    look: createLookIntoFiles({ live, search, store }),
    indexing: (workspaceId) => reindexer.state(workspaceId),
    watch: reindexer.watch,
    [Symbol.asyncDispose]: () => reindexer[Symbol.asyncDispose](),
  }
}

function searchDocuments(
  retrieval: FilePartsDependencies['retrieval'],
  directories: ReturnType<typeof createDirectoryStore>,
): SearchDocuments {
  return {
    ingest: retrieval.ingest,
    readsContent: retrieval.readsContent,
    rename: retrieval.documents.rename,
    removeAll: retrieval.removeAll,
    list: directories.documents,
    at: directories.documentsAt,
    below: directories.documentsBelow,
  }
}

async function indexingFacts(
  store: FilesStore,
  scope: WorkspaceScope,
  { paths, describeReason }: { paths: readonly string[]; describeReason(reason: string): string },
): Promise<Map<string, IndexingFacts>> {
  const facts = paths.length === 0 ? [] : await store.findAll(scope, paths)
  const describe = ({ status, reason, language }: FileFacts): IndexingFacts => ({
    language,
    indexing: status,
    reason: reason === null ? null : describeReason(reason),
  })
  return new Map(facts.map((fact) => [fact.path, describe(fact)]))
}

/** Mounts every endpoint about files. */
export function filesFeature(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  parts: FileParts
}): void {
  const { http, guard, parts } = dependencies
  mountFilesRoutes({ http, guard, ...parts })
  mountChangeRoutes({ http, guard, ...parts })
  mountStreamRoutes({ http, guard, ...parts })
  mountWatchRoutes({ http, guard, ...parts })
}
