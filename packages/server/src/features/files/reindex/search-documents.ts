import type { IngestedFile, IngestTotals } from '@atelier/contract'
import type { WorkspaceScope } from '../../../platform/identity/workspace-scope.ts'

/** A file to be indexed: with its content, or only judged where its path or size keeps it out of search anyway. */
export type FileToIndex =
  | { path: string; bytes: Uint8Array }
  | { path: string; size: number; contentSha256: string }

/** What search has of a file. */
export interface IndexedDocument {
  path: string
  contentSha256: string
}

/** The documents of search, as far as keeping them like the directory needs them. */
export interface SearchDocuments {
  ingest(
    scope: WorkspaceScope,
    files: AsyncIterable<FileToIndex>,
    options: { signal: AbortSignal; onProgress?(progress: { done: number }): void },
  ): Promise<{ files: IngestedFile[]; totals: IngestTotals }>
  /** Whether search would look into such a file at all. */
  readsContent(path: string, size: number): boolean
  /** False where there is no document at `from`. */
  rename(scope: WorkspaceScope, from: string, to: string): Promise<boolean>
  removeAll(scope: WorkspaceScope, paths: readonly string[]): Promise<number>
  /** In the order of paths, after `after`. */
  list(scope: WorkspaceScope, options: { limit: number; after: string }): Promise<readonly IndexedDocument[]>
  /** Those that are at one of `paths`. */
  at(scope: WorkspaceScope, paths: readonly string[]): Promise<readonly IndexedDocument[]>
  /** Those below one of `folders`. */
  below(scope: WorkspaceScope, folders: readonly string[]): Promise<readonly IndexedDocument[]>
}
