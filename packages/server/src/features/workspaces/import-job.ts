import type { IngestedFile, IngestTotals } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import { readPlanned, type SourceFile } from '../../platform/archive/import-source.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { JobRun } from '../../platform/jobs/job-handler.ts'
import type { ImportTarget } from '../files/index.ts'
import { importReport } from './import-report.ts'
import type { ImportStaging, StagedPlan } from './import-staging.ts'

/**
 * Stores files as documents of the workspace and indexes them, in the order they come, holding few at a time. The same
 * content twice costs nothing. Rejects with the signal's reason, or with what `files` throws; what was stored stays.
 */
export type IngestDocuments = (
  scope: WorkspaceScope,
  files: AsyncIterable<SourceFile>,
  options: { signal: AbortSignal; onProgress(progress: { done: number }): void },
) => Promise<{ files: IngestedFile[]; totals: IngestTotals }>

/** Throws CONFLICT where a document is in the place of a folder that `paths` need, or the other way round. */
export type RefusePathConflicts = (scope: WorkspaceScope, paths: readonly string[]) => Promise<void>

export interface ImportJobDependencies {
  staging: Pick<ImportStaging, 'open'>
  ingest: IngestDocuments
  refusePathConflicts: RefusePathConflicts
  target: Pick<ImportTarget, 'exclusively' | 'unpack'>
}

/** Puts the files of an accepted import into the directory, all or none, and then into search. */
export async function runImport(
  run: JobRun,
  dependencies: ImportJobDependencies,
): Promise<Record<string, unknown>> {
  const { scope } = run
  const staged = await dependencies.staging.open(run.jobId)
  await dependencies.refusePathConflicts(
    scope,
    staged.plan.files.map(({ path }) => path),
  )
  return await dependencies.target.exclusively(scope, () => storeAndIndex(run, staged, dependencies))
}

async function storeAndIndex(
  { scope, signal, progress }: JobRun,
  { plan, format, directory }: StagedPlan & { directory: string },
  { ingest, target }: ImportJobDependencies,
): Promise<Record<string, unknown>> {
  const { files, directories } = plan
  let stored = 0
  try {
    progress({ phase: 'Unpacking', done: 0, total: files.length })
    const source = () => readPlanned({ directory, format, files, signal })
    const leftOut = await target.unpack(scope, { files: source(), directories }, signal)
    const unsearched: { path: string; reason: string }[] = []
    progress({ phase: 'Reading and indexing' })
    const ingested = await ingest(scope, searched(source(), leftOut, unsearched), {
      signal,
      onProgress({ done }) {
        stored = done
        progress({ done: done + unsearched.length })
      },
    })
    progress({ phase: 'Done', done: files.length })
    return importReport({ ...plan, skipped: [...plan.skipped, ...unsearched] }, ingested)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError(error.code, `${error.message}. ${stored} of ${files.length} files were stored`, {
      cause: error,
    })
  }
}

/** The files that search is to know; the others are noted with the reason. */
async function* searched(
  files: AsyncIterable<SourceFile>,
  leftOut: (path: string) => string | null,
  unsearched: { path: string; reason: string }[],
): AsyncGenerator<SourceFile> {
  for await (const file of files) {
    const reason = leftOut(file.path)
    if (reason === null) yield file
    else unsearched.push({ path: file.path, reason })
  }
}
