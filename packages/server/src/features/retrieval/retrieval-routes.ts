import { getIndexState, type IndexState, searchWorkspace, uploadFiles } from '@atelier/contract'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount } from '../../platform/http/mount.ts'
import type { Files, ImportTarget } from '../files/index.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'
import type { Retrieval } from './index.ts'
import { createUpload } from './upload.ts'

/** Mounts upload, search and the state of the index. */
export function retrievalFeature(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  retrieval: Retrieval
  files: Pick<Files, 'refusePathConflicts'>
  target: ImportTarget
  /** what search has yet to learn of the files on disk */
  changes(workspaceId: string): IndexState['changes']
}): void {
  const { http, guard, retrieval } = dependencies
  const upload = createUpload(dependencies)
  mount(http, uploadFiles, async ({ principal, request, signal }) => {
    await using form = await http.multipart.stage(uploadFiles, request)
    const scope = await guard(principal, form.fields.workspaceId, 'editor')
    return await upload(scope, form, signal)
  })
  mount(http, searchWorkspace, async ({ principal, body, signal }) => {
    const { workspaceId, ...options } = body
    return await retrieval.search(await guard(principal, workspaceId, 'viewer'), { ...options, signal })
  })
  mount(http, getIndexState, async ({ principal, query: { workspaceId } }) => {
    const state = await retrieval.indexState(await guard(principal, workspaceId, 'viewer'))
    return { ...state, changes: dependencies.changes(workspaceId) }
  })
}
