import type { IngestedFile, IngestTotals } from '@atelier/contract'
import { defaultArchiveLimits } from '../../platform/archive/archive-entry.ts'
import { planImport } from '../../platform/archive/import-plan.ts'
import { type ReceivedFile, readPlanned, toSourceEntry } from '../../platform/archive/import-source.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { Files, ImportTarget } from '../files/index.ts'
import type { Retrieval } from './index.ts'

export interface UploadResult {
  workspaceId: string
  files: IngestedFile[]
  totals: IngestTotals
}

/**
 * Stores and indexes a few files under the names they have, before the answer. What cannot be kept is answered as
 * skipped. Throws VALIDATION_ERROR on `files` for an unsafe name or when nothing is left, and CONFLICT where a folder is.
 */
export type Upload = (
  scope: WorkspaceScope,
  form: { directory: string; files: readonly ReceivedFile[] },
  signal: AbortSignal,
) => Promise<UploadResult>

export function createUpload(dependencies: {
  retrieval: Pick<Retrieval, 'ingest'>
  files: Pick<Files, 'refusePathConflicts'>
  target: Pick<ImportTarget, 'admit' | 'exclusively' | 'unpack'>
}): Upload {
  const { retrieval, files, target } = dependencies
  return async (scope, form, signal) => {
    const plan = planImport(form.files.map(toSourceEntry), {
      stripRoot: false,
      ignore: false,
      maxBytes: defaultArchiveLimits.unpackedBytes,
    })
    await target.admit(scope)
    await files.refusePathConflicts(
      scope,
      plan.files.map(({ path }) => path),
    )
    const read = (planned: typeof plan.files) =>
      readPlanned({ directory: form.directory, format: 'files', files: planned, signal })
    return await target.exclusively(scope, async () => {
      const reasonOf = await target.unpack(scope, { files: read(plan.files), directories: [] }, signal)
      const ingested = await retrieval.ingest(
        scope,
        read(plan.files.filter(({ path }) => reasonOf(path) === null)),
        { signal },
      )
      const unsearched = plan.files.flatMap(({ path }) => {
        const reason = reasonOf(path)
        return reason === null ? [] : [{ path, reason }]
      })
      return uploadResult(scope, ingested, [...plan.skipped, ...unsearched].map(leftOut))
    })
  }
}

function uploadResult(
  { workspaceId }: WorkspaceScope,
  { files, totals }: { files: IngestedFile[]; totals: IngestTotals },
  skipped: IngestedFile[],
): UploadResult {
  return {
    workspaceId,
    files: [...files, ...skipped],
    totals: {
      ...totals,
      files: totals.files + skipped.length,
      skipped: totals.skipped + skipped.length,
    },
  }
}

function leftOut({ path, reason }: { path: string; reason: string }): IngestedFile {
  return { name: path, documentId: null, bytes: 0, language: null, chunks: 0, status: 'skipped', reason }
}
