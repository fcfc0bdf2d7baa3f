import type { Page, Workspace } from '@atelier/contract'
import { AppError, notFound } from '../../base/app-error.ts'
import { decodeCursor, toPage } from '../../base/cursor.ts'
import type { Principal } from '../../platform/identity/principal.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import { maxOwnedWorkspaces } from './workspace-limits.ts'
import type { WorkspaceStore } from './workspace-store.ts'

export interface Workspaces {
  /** Throws FORBIDDEN to a key made for some workspaces, CONFLICT where the caller owns too many. */
  create(principal: Principal, name: string): Promise<Workspace>
  list(principal: Principal, page: { limit: number; cursor?: string | undefined }): Promise<Page<Workspace>>
  get(scope: WorkspaceScope): Promise<Workspace>
  rename(scope: WorkspaceScope, name: string): Promise<Workspace>
  /** Stops its jobs and its sandbox and deletes everything in it. */
  delete(scope: WorkspaceScope): Promise<void>
}

/** What runs in a workspace and what is on its disk. */
export interface Sandboxes {
  /** Ends and removes it, then calls `forget`; nobody can start it meanwhile. */
  destroy(workspaceId: string, forget: () => Promise<void>): Promise<void>
}

/** A caller that got a scope has passed the guard; a workspace deleted since is NOT_FOUND. */
export function createWorkspaces(dependencies: {
  store: WorkspaceStore
  jobs: { cancelAll(scope: WorkspaceScope): Promise<void> }
  sandboxes: Sandboxes
}): Workspaces {
  const { store, jobs, sandboxes } = dependencies
  return {
    async create(principal, name) {
      if (principal.kind === 'api-key' && principal.workspaceIds !== null) {
        throw new AppError('FORBIDDEN', 'The API key is limited to some workspaces and cannot make another')
      }
      const workspace = await store.create({ userId: principal.userId, name, maxOwned: maxOwnedWorkspaces })
      if (workspace) return workspace
      throw new AppError('CONFLICT', `A person can own ${maxOwnedWorkspaces} workspaces; delete one first`)
    },
    async list(principal, { limit, cursor }) {
      const ids = principal.kind === 'api-key' ? principal.workspaceIds : null
      const before = decodeCursor(cursor, 'ws')
      return toPage(await store.list({ userId: principal.userId, ids, limit: limit + 1, before }), limit)
    },
    get: async (scope) => found(await store.find(scope)),
    rename: async (scope, name) => found(await store.rename(scope, name)),
    async delete(scope) {
      await jobs.cancelAll(scope)
      await sandboxes.destroy(scope.workspaceId, () => store.delete(scope))
    },
  }
}

function found(workspace: Workspace | null): Workspace {
  if (!workspace) throw notFound('Workspace')
  return workspace
}
