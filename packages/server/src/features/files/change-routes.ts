import { changeFiles, createFile, deleteFile, moveFile, replaceFile, searchFiles } from '@atelier/contract'
import { invalidField } from '../../base/app-error.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount } from '../../platform/http/mount.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'
import type { FileChanges } from './change-files.ts'
import { baseRevision } from './revision-headers.ts'
import type { SearchFiles } from './search-files.ts'

export function mountChangeRoutes(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  changes: FileChanges
  search: SearchFiles
}): void {
  const { http, guard, changes, search } = dependencies
  mount(http, createFile, async ({ principal, body, setHeader }) => {
    const { workspaceId, ...file } = body
    const created = await changes.create(await guard(principal, workspaceId, 'editor'), file)
    if (created.revision !== null) setHeader('etag', `"${created.revision}"`)
    return created
  })
  mount(http, replaceFile, async ({ principal, body, request, setHeader }) => {
    const { workspaceId, baseRevision: given, ...file } = body
    const scope = await guard(principal, workspaceId, 'editor')
    const base = baseRevision(request.headers['if-match'], given)
    if (base === undefined) throw invalidField('baseRevision', 'is required, or an If-Match header')
    const replaced = await changes.replace(scope, { ...file, base })
    setHeader('etag', `"${replaced.revision}"`)
    return replaced
  })
  mount(http, moveFile, async ({ principal, body }) => {
    const { workspaceId, ...paths } = body
    return await changes.move(await guard(principal, workspaceId, 'editor'), paths)
  })
  mount(http, deleteFile, async ({ principal, query, request }) => {
    const { workspaceId, path, recursive } = query
    const scope = await guard(principal, workspaceId, 'editor')
    const base = baseRevision(request.headers['if-match'], query.baseRevision)
    await changes.delete(scope, { path, recursive, base })
    return { path }
  })
  mount(http, changeFiles, async ({ principal, body }) => {
    const { workspaceId, operations } = body
    return { results: await changes.batch(await guard(principal, workspaceId, 'editor'), operations) }
  })
  mount(http, searchFiles, async ({ principal, query, signal }) => {
    const { workspaceId, ...asked } = query
    return await search(await guard(principal, workspaceId, 'viewer'), asked, signal)
  })
}
