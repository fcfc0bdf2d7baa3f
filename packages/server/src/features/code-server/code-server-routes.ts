import { listCodeServers, startCodeServer, stopCodeServer } from '@atelier/contract'
import { AppError, notFound } from '../../base/app-error.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount } from '../../platform/http/mount.ts'
import type { Principal } from '../../platform/identity/principal.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'
import type { EditorSessions } from './editor-sessions.ts'

export function mountCodeServerRoutes(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  editors: EditorSessions
}): void {
  const { http, guard, editors } = dependencies

  /** Whose session it is not is told the same as where there is none. */
  async function admit(principal: Principal, id: string): Promise<void> {
    const workspaceId = editors.workspaceOf(id)
    if (workspaceId === undefined) throw notFound('Editor session')
    await guard(principal, workspaceId, 'editor').catch((error: unknown) => {
      throw error instanceof AppError && error.code === 'NOT_FOUND' ? notFound('Editor session') : error
    })
  }

  async function mayOpen(principal: Principal, workspaceId: string): Promise<boolean> {
    try {
      await guard(principal, workspaceId, 'editor')
      return true
    } catch (error) {
      if (error instanceof AppError && (error.code === 'NOT_FOUND' || error.code === 'FORBIDDEN'))
        return false
      throw error
    }
  }

  mount(http, startCodeServer, async ({ principal, body, request }) =>
    editors.start(await guard(principal, body.workspaceId, 'editor'), request.headers.host),
  )
  mount(http, listCodeServers, async ({ principal, query, request }) => {
    if (query.workspaceId !== undefined) await guard(principal, query.workspaceId, 'editor')
    if (query.id !== undefined) await admit(principal, query.id)
    const wanted = editors
      .list(request.headers.host)
      .filter(({ id }) => query.id === undefined || id === query.id)
      .filter(({ workspaceId }) => query.workspaceId === undefined || workspaceId === query.workspaceId)
    const allowed = await Promise.all(wanted.map(({ workspaceId }) => mayOpen(principal, workspaceId)))
    return { items: wanted.filter((_, index) => allowed[index]), nextCursor: null }
  })
  mount(http, stopCodeServer, async ({ principal, query }) => {
    await admit(principal, query.id)
    editors.stop(query.id)
    return { id: query.id }
  })
}
