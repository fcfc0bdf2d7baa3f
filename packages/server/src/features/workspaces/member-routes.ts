import {
  addWorkspaceMember,
  changeWorkspaceMember,
  listWorkspaceMembers,
  removeWorkspaceMember,
} from '@atelier/contract'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount } from '../../platform/http/mount.ts'
import type { Members } from './members.ts'
import type { WorkspaceGuard } from './workspace-guard.ts'

export function mountMemberRoutes(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  members: Members
}): void {
  const { http, guard, members } = dependencies
  mount(http, listWorkspaceMembers, async ({ principal, params }) => {
    const items = await members.list(await guard(principal, params.workspaceId, 'viewer'))
    return { items, nextCursor: null }
  })
  mount(http, addWorkspaceMember, async ({ principal, params, body }) =>
    members.add(await guard(principal, params.workspaceId, 'owner'), body),
  )
  mount(http, changeWorkspaceMember, async ({ principal, params, body }) => {
    const scope = await guard(principal, params.workspaceId, 'owner')
    return members.changeRole(scope, { userId: params.userId, role: body.role })
  })
  mount(http, removeWorkspaceMember, async ({ principal, params }) => {
    await members.remove(await guard(principal, params.workspaceId, 'viewer'), params.userId)
    return { userId: params.userId }
  })
}
