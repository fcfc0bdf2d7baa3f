import { getWorkspaceStatus, startWorkspace, stopWorkspace, type WorkspaceRole } from '@atelier/contract'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount } from '../../platform/http/mount.ts'
import type { Principal } from '../../platform/identity/principal.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { WorkspaceSessions } from './workspace-sessions.ts'

export type WorkspaceGuard = (
  principal: Principal,
  workspaceId: string,
  role: WorkspaceRole,
) => Promise<WorkspaceScope>

export function mountSessionRoutes(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  sessions: WorkspaceSessions
}): void {
  const { http, guard, sessions } = dependencies
  mount(http, startWorkspace, async ({ principal, params: { workspaceId } }) => {
    const scope = await guard(principal, workspaceId, 'editor')
    await sessions.use(scope, { kind: 'request', detail: 'started by a member' })
    return sessions.status(workspaceId)
  })
  mount(http, stopWorkspace, async ({ principal, params: { workspaceId } }) => {
    const scope = await guard(principal, workspaceId, 'editor')
    await sessions.stop(scope, 'stopped by a member')
    return sessions.status(workspaceId)
  })
  mount(http, getWorkspaceStatus, async ({ principal, params: { workspaceId } }) => {
    await guard(principal, workspaceId, 'viewer')
    return sessions.status(workspaceId)
  })
}
