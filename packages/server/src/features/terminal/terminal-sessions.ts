import { type Terminal, terminalLimits } from '@atelier/contract'
import { AppError, notFound } from '../../base/app-error.ts'
import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/ids.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { WorkspaceSessions } from '../sessions/index.ts'
import type { TerminalScreens } from './terminal-screens.ts'
import { createTerminalSession, type TerminalRequest, type TerminalSession } from './terminal-session.ts'

/** How often terminals that nobody looks at are looked for. */
const sweepMilliseconds = 5_000

/** All terminals of this node. */
export interface TerminalSessions extends AsyncDisposable {
  /**
   * Opens one, starting the workspace if need be. Throws CONFLICT at a limit, SERVICE_UNAVAILABLE where the workspace
   * does not start.
   */
  create(scope: WorkspaceScope, wanted: WantedTerminal): Promise<Terminal>
  /** Throws NOT_FOUND. Who asks must be let into its workspace before getting anything of it. */
  get(id: string): TerminalSession
  list(matches: (request: TerminalRequest) => boolean): Terminal[]
  /** Hangs up and forgets it. */
  close(id: string): void
  /** Ends what nobody looks at any more; happens by itself every few seconds. */
  sweep(): void
}

export interface WantedTerminal extends Pick<TerminalRequest, 'cwd' | 'cols' | 'rows'> {
  userId: string
  command?: string[] | undefined
}

export function createTerminalSessions(deps: {
  sessions: Pick<WorkspaceSessions, 'use' | 'touch' | 'onEnd'>
  screens: TerminalScreens
  clock: Clock
}): TerminalSessions {
  const { sessions, screens, clock } = deps
  const terminals = new Map<string, TerminalSession>()

  function forget(terminal: TerminalSession): void {
    terminals.delete(terminal.request.id)
    terminal[Symbol.dispose]()
  }

  /** An exited terminal of the same kind gives way. */
  function admit(limit: number, what: string, counts: (request: TerminalRequest) => boolean): void {
    const counted = [...terminals.values()].filter(({ request }) => counts(request))
    if (counted.length < limit) return
    const gone = counted.find((terminal) => terminal.exited())
    if (!gone) throw new AppError('CONFLICT', `${what} has ${limit} terminals; close one first`)
    forget(gone)
  }

  sessions.onEnd((workspaceId, reason) => {
    for (const terminal of terminals.values())
      if (terminal.request.workspaceId === workspaceId) terminal.end(reason)
  })

  function sweep(): void {
    for (const terminal of terminals.values()) {
      terminal.closeStuckViewers()
      const closesAt = terminal.closesAt()
      if (closesAt === null || clock() < closesAt) continue
      if (terminal.exited()) forget(terminal)
      else terminal.end(`nobody looked at it for ${terminalLimits.detachedMilliseconds / 60_000} minutes`)
    }
  }
  const sweeping = setInterval(sweep, sweepMilliseconds)
  sweeping.unref()

  return {
    async create(scope, { userId, command, cwd, cols, rows }) {
      const { workspaceId } = scope
      admit(terminalLimits.perUser, 'You', ({ createdBy }) => createdBy === userId)
      admit(terminalLimits.perWorkspace, 'The workspace', (request) => request.workspaceId === workspaceId)
      admit(terminalLimits.perServer, 'The server', () => true)
      const request = { id: newId('terminal'), workspaceId, createdBy: userId, command, cwd, cols, rows }
      const touch = (detail: string) => sessions.touch(workspaceId, { kind: 'terminal', detail })
      const terminal = createTerminalSession({ request, screens, touch, clock })
      terminals.set(request.id, terminal)
      try {
        const client = await sessions.use(scope, { kind: 'terminal', detail: 'a terminal was opened' })
        await terminal.start(client)
      } catch (error) {
        forget(terminal)
        throw error
      }
      return terminal.describe()
    },
    get(id) {
      const terminal = terminals.get(id)
      if (!terminal) throw notFound('Terminal')
      return terminal
    },
    list: (matches) =>
      [...terminals.values()]
        .filter(({ request }) => matches(request))
        .map((terminal) => terminal.describe()),
    close(id) {
      const terminal = terminals.get(id)
      terminal?.end('it was closed')
      if (terminal) forget(terminal)
    },
    sweep,
    async [Symbol.asyncDispose]() {
      clearInterval(sweeping)
      for (const terminal of terminals.values()) {
        terminal.end('the server is stopping')
        terminal[Symbol.dispose]()
      }
      terminals.clear()
    },
  }
}
