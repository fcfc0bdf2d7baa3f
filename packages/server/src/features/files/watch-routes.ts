import { type DirectoryChange, watchFiles } from '@atelier/contract'
import { guardAgainMilliseconds, whileAllowed } from '../../base/while-allowed.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mountEvents } from '../../platform/http/mount.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'

export function mountWatchRoutes(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  watch(reader: { workspaceId: string; userId: string }, signal: AbortSignal): AsyncIterable<DirectoryChange>
}): void {
  const { http, guard, watch } = dependencies
  mountEvents(http, watchFiles, async ({ principal, params, signal }) => {
    const enter = () => guard(principal, params.workspaceId, 'viewer')
    const { workspaceId } = await enter()
    const changes = watch({ workspaceId, userId: principal.userId }, AbortSignal.any([signal, http.closing]))
    return { events: asEvents(whileAllowed(changes, enter, guardAgainMilliseconds)) }
  })
}

async function* asEvents(changes: AsyncIterable<DirectoryChange>): AsyncGenerator<{ data: DirectoryChange }> {
  for await (const data of changes) yield { data }
}
