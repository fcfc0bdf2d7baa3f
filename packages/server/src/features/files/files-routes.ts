import { readFiles } from '@atelier/contract'
import { success } from '../../platform/http/envelope.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mountRaw } from '../../platform/http/mount.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'
import type { Files } from './files.ts'
import { knownRevisions } from './revision-headers.ts'

export function mountFilesRoutes(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  files: Pick<Files, 'read'>
}): void {
  const { http, guard, files } = dependencies
  mountRaw(http, readFiles, async ({ principal, query, request, requestId }, reply) => {
    const { workspaceId, ...asked } = query
    const scope = await guard(principal, workspaceId, 'viewer')
    const known = knownRevisions(request.headers['if-none-match'])
    const found = await files.read(scope, { ...asked, knownRevisions: known })
    // Kept by the browser, but asked about each time: somebody may have lost the workspace.
    reply.header('cache-control', 'private, no-cache')
    if (found.kind !== 'directory') reply.header('etag', `"${found.revision}"`)
    if (found.kind === 'unchanged') return reply.status(304).send()
    return reply.send(success(found, readFiles.message, requestId))
  })
}
