import {
  closeTerminal,
  createTerminal,
  listTerminals,
  type Terminal,
  type WorkspaceRole,
} from '@atelier/contract'
import { AppError, notFound } from '../../base/app-error.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount } from '../../platform/http/mount.ts'
import type { Principal } from '../../platform/identity/principal.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'
import type { TerminalSession } from './terminal-session.ts'
import type { TerminalSessions } from './terminal-sessions.ts'

/** What a member must be to look at or type into a terminal: what is shown there may be anything in the workspace. */
const needed: WorkspaceRole = 'editor'

export function mountTerminalRoutes(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  terminals: TerminalSessions
}): void {
  const { http, guard, terminals } = dependencies
  mount(http, createTerminal, async ({ principal, body: { workspaceId, ...wanted } }) => {
    const scope = await guard(principal, workspaceId, needed)
    return terminals.create(scope, { ...wanted, userId: principal.userId })
  })
  mount(http, listTerminals, async ({ principal, query: { workspaceId, id } }) => {
    if (workspaceId !== undefined) await guard(principal, workspaceId, needed)
    const one = id === undefined ? undefined : await terminalFor({ guard, terminals }, principal, id)
    if (one && workspaceId !== undefined && one.request.workspaceId !== workspaceId)
      throw notFound('Terminal')
    if (one) return { items: [one.describe()], nextCursor: null }
    const items = terminals.list((request) =>
      workspaceId === undefined
        ? request.createdBy === principal.userId
        : request.workspaceId === workspaceId,
    )
    return { items: await visible(items, guard, principal), nextCursor: null }
  })
  mount(http, closeTerminal, async ({ principal, query: { id } }) => {
    await terminalFor({ guard, terminals }, principal, id)
    terminals.close(id)
    return { id }
  })
}

/** Throws NOT_FOUND for a terminal of a workspace that the caller is no member of, as if there were none. */
export async function terminalFor(
  { guard, terminals }: { guard: WorkspaceGuard; terminals: TerminalSessions },
  principal: Principal,
  id: string,
): Promise<TerminalSession> {
  const terminal = terminals.get(id)
  try {
    await guard(principal, terminal.request.workspaceId, needed)
  } catch (error) {
    throw error instanceof AppError && error.code === 'NOT_FOUND' ? notFound('Terminal') : error
  }
  return terminal
}

/** Without those in workspaces that the caller has left since. */
async function visible(items: Terminal[], guard: WorkspaceGuard, principal: Principal): Promise<Terminal[]> {
  const allowed = new Map<string, boolean>()
  for (const { workspaceId } of items)
    if (!allowed.has(workspaceId)) allowed.set(workspaceId, await mayUse(guard, principal, workspaceId))
  return items.filter(({ workspaceId }) => allowed.get(workspaceId))
}

/** Whether the caller may look at terminals of a workspace now. */
export async function mayUse(
  guard: WorkspaceGuard,
  principal: Principal,
  workspaceId: string,
): Promise<boolean> {
  try {
    await guard(principal, workspaceId, needed)
    return true
  } catch (error) {
    if (error instanceof AppError && (error.code === 'NOT_FOUND' || error.code === 'FORBIDDEN')) return false
    throw error
  }
}
