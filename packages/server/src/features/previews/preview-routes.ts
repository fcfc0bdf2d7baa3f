import { listWorkspacePorts } from '@atelier/contract'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount } from '../../platform/http/mount.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'
import type { Previews } from './previews.ts'

export function mountPreviewRoutes(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  previews: Previews
}): void {
  const { http, guard, previews } = dependencies
  mount(http, listWorkspacePorts, async ({ principal, params, request }) => {
    const scope = await guard(principal, params.workspaceId, 'viewer')
    return { items: await previews.ports(scope, request.headers.host), nextCursor: null }
  })
}
