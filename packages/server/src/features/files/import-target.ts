import type { IngestedFile, IngestTotals } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import type { SourceFile } from '../../platform/archive/import-source.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import { type CloneOptions, type CloneRequest, cloneRepository } from './clone-repository.ts'
import { type LiveDirectory, translating } from './live-directory.ts'
import type { Reindexer } from './reindex/reindexer.ts'
import type { SearchDocuments } from './reindex/search-documents.ts'
import { type WholePassOptions, wholePass } from './reindex/whole-pass.ts'
import { searchablePaths, unpackFiles } from './unpack-files.ts'

/** Where imports put files beside search: the directory of the workspace, where there can be one. */
export interface ImportTarget {
  /**
   * Throws SERVICE_UNAVAILABLE where the workspace has a directory that cannot be written to now: what is imported past
   * it would be lost.
   */
  admit(scope: WorkspaceScope): Promise<void>
  /** Runs an import while nothing else of the workspace is indexed. */
  exclusively<Value>(scope: WorkspaceScope, work: () => Promise<Value>): Promise<Value>
  /**
   * Puts files into the directory, all or none; does nothing where there is none. Resolves to a function that says why
   * search leaves a file out, `null` where it does not.
   */
  unpack(
    scope: WorkspaceScope,
    content: { files: AsyncIterable<SourceFile>; directories: readonly string[] },
    signal: AbortSignal,
  ): Promise<(path: string) => string | null>
  /** Clones into the directory; see `cloneRepository`. */
  clone(scope: WorkspaceScope, request: CloneRequest, options: CloneOptions): Promise<{ commit: string }>
  /** Makes search like the directory; answers what it made of the files that were new to it. */
  index(
    scope: WorkspaceScope,
    options: { signal: AbortSignal; onProgress: NonNullable<WholePassOptions['onProgress']> },
  ): Promise<{ files: IngestedFile[]; totals: IngestTotals }>
}

export function createImportTarget(dependencies: {
  live: LiveDirectory
  reindexer: Pick<Reindexer, 'exclusively'>
  documents: SearchDocuments
  /** the node that holds a workspace's directory, `null` where none was made */
  nodeOf(scope: WorkspaceScope): Promise<string | null>
}): ImportTarget {
  const { live, reindexer, documents, nodeOf } = dependencies

  async function admit(scope: WorkspaceScope): Promise<void> {
    const obstacle = await live.obstacle()
    if (obstacle === null || (await nodeOf(scope)) === null) return
    throw new AppError(
      'SERVICE_UNAVAILABLE',
      `The directory of this workspace cannot be written to: workspaces cannot be started on this server (${obstacle})`,
    )
  }

  return {
    admit,
    exclusively: ({ workspaceId }, work) => reindexer.exclusively(workspaceId, work),
    unpack: (scope, content, signal) =>
      translating(async (): Promise<(path: string) => string | null> => {
        await admit(scope)
        if ((await live.obstacle()) !== null) return () => null
        const client = await live.use(scope, 'importing files')
        await unpackFiles(client, content, signal)
        const searchable = await searchablePaths(client, signal)
        return (path) => (searchable.has(path) ? null : 'is named by a .gitignore file')
      }),
    clone: (scope, request, options) =>
      translating(async () =>
        cloneRepository(await live.use(scope, 'cloning a repository'), request, options),
      ),
    index: (scope, { signal, onProgress }) =>
      translating(async () => {
        const client = await live.use(scope, 'indexing files')
        const files: IngestedFile[] = []
        const totals: IngestTotals = { files: 0, indexed: 0, skipped: 0, failed: 0, bytes: 0, chunks: 0 }
        await wholePass(
          { scope, client, documents, signal },
          {
            onProgress,
            onIndexed(result) {
              files.push(...result.files.filter(({ status }) => status !== 'indexed'))
              for (const key of Object.keys(totals) as (keyof IngestTotals)[])
                totals[key] += result.totals[key]
            },
          },
        )
        return { files, totals }
      }),
  }
}
