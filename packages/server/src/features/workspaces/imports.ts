import type { Body, importIntoWorkspace, Job } from '@atelier/contract'
import { AppError, invalidField } from '../../base/app-error.ts'
import { newId } from '../../base/ids.ts'
import { defaultArchiveLimits } from '../../platform/archive/archive-entry.ts'
import { planImport } from '../../platform/archive/import-plan.ts'
import { inspectSource, type ReceivedFile } from '../../platform/archive/import-source.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { JobHandler } from '../../platform/jobs/job-handler.ts'
import { maxActiveJobsPerUser } from '../../platform/jobs/job-limits.ts'
import type { JobQueue } from '../../platform/jobs/job-queue.ts'
import { createEgressPolicy } from '../../platform/runtime/egress-policy.ts'
import type { ImportTarget } from '../files/index.ts'
import { CloneInput, runClone } from './clone-job.ts'
import { type IngestDocuments, type RefusePathConflicts, runImport } from './import-job.ts'
import type { ImportStaging } from './import-staging.ts'

export interface Imports {
  /**
   * Throws CONFLICT to who has too many jobs under way, and SERVICE_UNAVAILABLE where the workspace cannot be written
   * to; asked before a large body is read.
   */
  admit(scope: WorkspaceScope): Promise<void>
  /**
   * Checks all that can be checked, then makes it a job; the form's directory is taken over. Throws VALIDATION_ERROR on
   * `files` that names the entry, and CONFLICT; nothing is kept then.
   */
  accept(scope: WorkspaceScope, form: ImportForm, signal: AbortSignal): Promise<Job>
  /**
   * Makes the clone of a repository a job. Throws VALIDATION_ERROR on `gitUrl` for a host that workspaces may not
   * reach, and SERVICE_UNAVAILABLE where they have no network.
   */
  acceptClone(scope: WorkspaceScope, repository: RepositoryToClone): Promise<Job>
  readonly handler: JobHandler
}

export type RepositoryToClone = NonNullable<Body<typeof importIntoWorkspace>>

export interface ImportForm {
  directory: string
  files: readonly ReceivedFile[]
  stripRoot: boolean
}

export function createImports(dependencies: {
  jobs: Pick<JobQueue, 'enqueue' | 'countActive'>
  staging: ImportStaging
  ingest: IngestDocuments
  refusePathConflicts: RefusePathConflicts
  target: ImportTarget
  /** hosts that workspaces may reach; `undefined`: none */
  egress: readonly string[] | undefined
}): Imports {
  const { jobs, staging, refusePathConflicts, target, egress } = dependencies
  return {
    async admit(scope) {
      await admitImport(jobs, scope)
      await target.admit(scope)
    },
    async accept(scope, form, signal) {
      const { format, entries } = await inspectSource(form.files, signal)
      const plan = planImport(entries, {
        stripRoot: form.stripRoot,
        ignore: true,
        maxBytes: defaultArchiveLimits.unpackedBytes,
      })
      await refusePathConflicts(
        scope,
        plan.files.map(({ path }) => path),
      )
      const id = newId('job')
      try {
        await staging.keep(id, form, { format, plan })
        const total = plan.files.length
        return await jobs.enqueue(scope, {
          id,
          kind: 'import',
          input: { format },
          phase: 'Waiting',
          total,
          pinned: true,
        })
      } catch (error) {
        await staging.remove(id)
        throw error
      }
    },
    async acceptClone(scope, repository) {
      refuseHost(repository.gitUrl, egress)
      const input: CloneInput = { format: 'git', ...repository }
      return await jobs.enqueue(scope, { kind: 'import', input, phase: 'Waiting', pinned: true })
    },
    handler: {
      kind: 'import',
      unit: 'files',
      run(run) {
        const clone = CloneInput.safeParse(run.input)
        return clone.success ? runClone(run, clone.data, target) : runImport(run, dependencies)
      },
      ended: ({ jobId }) => staging.remove(jobId),
    },
  }
}

/** Throws CONFLICT to who has as many jobs under way as one person may. */
export async function admitImport(
  jobs: Pick<JobQueue, 'countActive'>,
  { userId }: WorkspaceScope,
): Promise<void> {
  if (userId === null || (await jobs.countActive(userId)) < maxActiveJobsPerUser) return
  throw new AppError('CONFLICT', `${maxActiveJobsPerUser} of your jobs are under way; wait for one to end`)
}

function refuseHost(gitUrl: string, egress: readonly string[] | undefined): void {
  if (egress === undefined) {
    throw new AppError(
      'SERVICE_UNAVAILABLE',
      'Workspaces have no network on this server; its administrator can name hosts in ATELIER_WORKSPACE_EGRESS',
    )
  }
  const { hostname, port } = new URL(gitUrl)
  const verdict = createEgressPolicy(egress)(hostname, Number(port || 443))
  if (!verdict.allowed) throw invalidField('gitUrl', `is not allowed: ${verdict.reason}`)
}
