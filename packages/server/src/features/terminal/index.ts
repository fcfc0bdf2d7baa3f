import type { Clock } from '../../base/clock.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import type { Sockets } from '../../platform/http/sockets.ts'
import type { WorkspaceSessions } from '../sessions/index.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'
import { mountTerminalRoutes } from './terminal-routes.ts'
import { createTerminalScreens } from './terminal-screens.ts'
import { createTerminalSessions, type TerminalSessions } from './terminal-sessions.ts'
import { mountTerminalSocket } from './terminal-socket.ts'

export type { TerminalSessions } from './terminal-sessions.ts'

/** Mounts terminals. Dispose it before the workspaces' sessions, so that who looks is told why a terminal ends. */
export function terminalFeature(dependencies: {
  http: HttpServer
  sockets: Sockets
  guard: WorkspaceGuard
  sessions: Pick<WorkspaceSessions, 'use' | 'touch' | 'onEnd'>
  clock: Clock
  logger: { error(fields: object, message: string): void }
}): AsyncDisposable & { readonly terminals: TerminalSessions } {
  const { http, sockets, guard, sessions, clock, logger } = dependencies
  const screens = createTerminalScreens({ logger })
  const terminals = createTerminalSessions({ sessions, screens, clock })
  mountTerminalRoutes({ http, guard, terminals })
  mountTerminalSocket({ sockets, guard, terminals, logger })
  return {
    terminals,
    async [Symbol.asyncDispose]() {
      await terminals[Symbol.asyncDispose]()
      await screens[Symbol.asyncDispose]()
    },
  }
}
