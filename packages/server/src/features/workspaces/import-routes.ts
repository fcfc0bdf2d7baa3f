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
    const enter = () => guard(principal, params.workspaceId, 'editor')
    const scope = await enter()
    await imports.admit(scope)
    if (body) return { job: await imports.acceptClone(scope, body) }
    await using form = await http.multipart.stage(importIntoWorkspace, request)
    const { directory, files, fields } = form
    const stripRoot = fields.stripRoot === 'true'
    // A large form takes minutes to arrive.
    const job = await imports.accept(await enter(), { directory, files, stripRoot }, signal)
    form.keep()
    return { job }
  })
}
