import { type WorkspaceRole, workspaceRoles } from '@atelier/contract'
import { AppError, notFound } from '../../base/app-error.ts'
import { type Principal, workspacesOf } from '../../platform/identity/principal.ts'
import { grantWorkspaceScope, type WorkspaceScope } from '../../platform/identity/workspace-scope.ts'

/**
 * Lets a caller into a workspace, with at least `minimumRole` in it. Throws NOT_FOUND to who is not a member, or whose
 * API key does not list the workspace: for them it does not exist. Throws FORBIDDEN to a member whose role is too low.
 */
export type WorkspaceGuard = (
  principal: Principal,
  workspaceId: string,
  minimumRole: WorkspaceRole,
) => Promise<WorkspaceScope>

/** `findRole` answers from one index; every request that names a workspace waits for it. */
export function createWorkspaceGuard(dependencies: {
  findRole(workspaceId: string, userId: string): Promise<WorkspaceRole | null>
}): WorkspaceGuard {
  return async (principal, workspaceId, minimumRole) => {
    if (workspacesOf(principal)?.includes(workspaceId) === false) throw notFound('Workspace')
    const role = await dependencies.findRole(workspaceId, principal.userId)
    if (role === null) throw notFound('Workspace')
    requireRole(role, minimumRole)
    const key = principal.kind === 'api-key' ? { apiKeyId: principal.apiKeyId } : {}
    return grantWorkspaceScope({ workspaceId, userId: principal.userId, role, ...key })
  }
}

/** Throws FORBIDDEN where `role` is below `minimumRole`. */
export function requireRole(role: WorkspaceRole, minimumRole: WorkspaceRole): void {
  if (workspaceRoles.indexOf(role) < workspaceRoles.indexOf(minimumRole)) {
    throw new AppError(
      'FORBIDDEN',
      `Only ${minimumRole === 'owner' ? 'an owner' : `an ${minimumRole}`} of the workspace can do this`,
    )
  }
}
