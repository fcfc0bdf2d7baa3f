import { importIntoWorkspace } from '@atelier/contract'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount } from '../../platform/http/mount.ts'
import type { Imports } from './imports.ts'
import type { WorkspaceGuard } from './workspace-guard.ts'

export function mountImportRoutes(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  imports: Imports
}): void {
  const { http, guard, imports } = dependencies
  mount(http, importIntoWorkspace, async ({ principal, params, body, request, signal }) => {
    const scope = await guard(principal, params.workspaceId, 'editor')
    await imports.admit(scope)
    if (body) return { job: await imports.acceptClone(scope, body) }
    await using form = await http.multipart.stage(importIntoWorkspace, request)
    const { directory, files, fields } = form
    const stripRoot = fields.stripRoot === 'true'
    const job = await imports.accept(scope, { directory, files, stripRoot }, signal)
    form.keep()
    return { job }
  })
}
