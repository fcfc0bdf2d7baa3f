import { z } from 'zod'
import type { JobRun } from '../../platform/jobs/job-handler.ts'
import type { ImportTarget } from '../files/index.ts'
import { importReport } from './import-report.ts'

/** What a job keeps of a repository that is to be cloned. */
export const CloneInput = z.object({
  format: z.literal('git'),
  gitUrl: z.string(),
  branch: z.string().optional(),
  path: z.string(),
})
export type CloneInput = z.infer<typeof CloneInput>

/** Clones a repository into the directory, all or nothing, and brings search up to it. */
export async function runClone(
  { jobId, scope, signal, progress }: JobRun,
  { gitUrl, branch, path }: CloneInput,
  target: Pick<ImportTarget, 'exclusively' | 'clone' | 'index'>,
): Promise<Record<string, unknown>> {
  return await target.exclusively(scope, async () => {
    progress({ phase: 'Cloning' })
    const request = { gitUrl, branch, path, id: jobId }
    const { commit } = await target.clone(scope, request, {
      signal,
      onPhase: (phase) => progress({ phase: `Cloning: ${phase}` }),
    })
    progress({ phase: 'Reading and indexing', done: 0 })
    const indexed = await target.index(scope, { signal, onProgress: progress })
    progress({ phase: 'Done', done: indexed.totals.files })
    const plan = { root: null, files: [], directories: [], skipped: [], ignored: [] }
    return { ...importReport(plan, indexed), repository: { url: gitUrl, branch: branch ?? null, commit } }
  })
}
