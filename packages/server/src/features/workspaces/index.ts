import { join } from 'node:path'
import { notFound } from '../../base/app-error.ts'
import type { Database } from '../../platform/db/database.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { JobQueue } from '../../platform/jobs/job-queue.ts'
import type { UserDirectory } from '../auth/index.ts'
import type { ImportTarget } from '../files/index.ts'
import type { IngestDocuments, RefusePathConflicts } from './import-job.ts'
import { mountImportRoutes } from './import-routes.ts'
import { createImportStaging } from './import-staging.ts'
import { createImports } from './imports.ts'
import { mountJobRoutes } from './job-routes.ts'
import { mountMemberRoutes } from './member-routes.ts'
import { createMemberStore } from './member-store.ts'
import { createMembers } from './members.ts'
import { createWorkspaceGuard as guardWith, type WorkspaceGuard } from './workspace-guard.ts'
import { mountWorkspaceRoutes } from './workspace-routes.ts'
import { createWorkspaceStore } from './workspace-store.ts'
import { createWorkspaces, type Sandboxes } from './workspaces.ts'

export type { IngestDocuments, RefusePathConflicts } from './import-job.ts'
export type { WorkspaceGuard } from './workspace-guard.ts'
export { maxMembers, maxOwnedWorkspaces } from './workspace-limits.ts'

/** The guard that every feature puts before a workspace. */
export function createWorkspaceGuard({ database }: { database: Database }): WorkspaceGuard {
  return guardWith(createWorkspaceStore({ database }))
}

/** Who bears what the server does for a workspace on its own: the one who has been an owner of it for longest. */
export function createFindOwner({ database }: { database: Database }) {
  const members = createMemberStore({ database })
  return async (scope: WorkspaceScope): Promise<string> => {
    const owner = (await members.list(scope)).find(({ role }) => role === 'owner')
    if (owner === undefined) throw notFound('Workspace')
    return owner.userId
  }
}

/**
 * Mounts workspaces, members, imports and jobs, and tells the queue how an import is done: to be called before the queue
 * starts. Disposing ends the sweeping of leftovers; dispose the queue first.
 */
export async function workspacesFeature(dependencies: {
  http: HttpServer
  database: Database
  jobs: JobQueue
  guard: WorkspaceGuard
  users: Pick<UserDirectory, 'byIds' | 'byEmail'>
  /** what runs in workspaces and what is on their disks */
  sandboxes: Sandboxes
  ingest: IngestDocuments
  refusePathConflicts: RefusePathConflicts
  /** the directories of workspaces */
  target: ImportTarget
  /** hosts that workspaces may reach; `undefined`: none */
  egress: readonly string[] | undefined
  dataDirectory: string
  logger: { warn(fields: object, message: string): void }
}): Promise<AsyncDisposable> {
  const { http, database, jobs, guard, users } = dependencies
  const staging = createImportStaging({
    importsDirectory: join(dependencies.dataDirectory, 'imports'),
    formsDirectory: http.options.stagingDirectory,
    activeJobs: jobs.active,
    logger: dependencies.logger,
  })
  await staging.start()
  const imports = createImports({ ...dependencies, staging })
  jobs.handle(imports.handler)
  const workspaces = createWorkspaces({ ...dependencies, store: createWorkspaceStore({ database }) })
  const members = createMembers({ store: createMemberStore({ database }), users })
  mountWorkspaceRoutes({ http, guard, workspaces })
  mountMemberRoutes({ http, guard, members })
  mountImportRoutes({ http, guard, imports })
  mountJobRoutes({ http, guard, jobs })
  return staging
}
