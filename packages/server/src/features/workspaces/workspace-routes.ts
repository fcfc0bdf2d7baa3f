import {
  createWorkspace,
  deleteWorkspace,
  getWorkspace,
  listWorkspaces,
  renameWorkspace,
} from '@atelier/contract'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount } from '../../platform/http/mount.ts'
import type { WorkspaceGuard } from './workspace-guard.ts'
import type { Workspaces } from './workspaces.ts'

export function mountWorkspaceRoutes(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  workspaces: Workspaces
}): void {
  const { http, guard, workspaces } = dependencies
  mount(http, createWorkspace, ({ principal, body }) => workspaces.create(principal, body.name))
  mount(http, listWorkspaces, ({ principal, query }) => workspaces.list(principal, query))
  mount(http, getWorkspace, async ({ principal, params }) =>
    workspaces.get(await guard(principal, params.workspaceId, 'viewer')),
  )
  mount(http, renameWorkspace, async ({ principal, params, body }) =>
    workspaces.rename(await guard(principal, params.workspaceId, 'owner'), body.name),
  )
  mount(http, deleteWorkspace, async ({ principal, params }) => {
    await workspaces.delete(await guard(principal, params.workspaceId, 'owner'))
    return { id: params.workspaceId }
  })
}
