import type { ActivityKind, WorkspaceStatus } from '@atelier/contract'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'
import {
  createWorkspaceSession,
  lastActivity,
  type WorkspaceSession,
  type WorkspaceSessionDeps,
} from './workspace-session.ts'
import { describeSession } from './workspace-status.ts'

/** How often idle workspaces are looked for. */
const idleCheckMilliseconds = 15_000

/** The sandboxes of all workspaces on this node: started on first use, stopped when idle, restarted after a crash. */
export interface WorkspaceSessions extends AsyncDisposable {
  /**
   * The agent of a running workspace; starts it if it is not. `use` counts as activity.
   * Throws SERVICE_UNAVAILABLE with the reason when it does not come up, NOT_FOUND while it is being deleted.
   */
  use(scope: WorkspaceScope, activity: { kind: ActivityKind; detail: string }): Promise<AgentClient>
  /** The agent if it runs already, without starting it or counting as activity. */
  running(workspaceId: string): AgentClient | undefined
  /** Something happened in a workspace that somebody holds open, such as typing in a terminal. */
  touch(workspaceId: string, activity: { kind: ActivityKind; detail: string }): void
  stop(scope: WorkspaceScope, reason: string): Promise<void>
  /**
   * Ends the sandbox, removes its directory and then calls `forget`, which removes the workspace itself. Nobody can
   * start it meanwhile; where something of it fails, the workspace is still there and can be deleted again.
   */
  destroy(workspaceId: string, forget: () => Promise<void>): Promise<void>
  status(workspaceId: string): Promise<WorkspaceStatus>
  /** Looks once for workspaces to stop; happens by itself every few seconds. */
  stopIdle(): Promise<void>
  /** Called with each agent that came up. */
  onStart(listener: (workspaceId: string, client: AgentClient) => void): void
  /** Called when an agent is about to be stopped, or has gone: what works with it ends with this reason. */
  onEnd(listener: (workspaceId: string, reason: string) => void): void
}

export interface SessionsOptions extends Omit<WorkspaceSessionDeps, 'onStart' | 'onEnd'> {
  /** milliseconds without activity after which a workspace stops */
  idleMilliseconds: number
}

export function createWorkspaceSessions(options: SessionsOptions): WorkspaceSessions {
  const { runtime, clock, logger, idleMilliseconds } = options
  const sessions = new Map<string, WorkspaceSession>()
  const startListeners: ((workspaceId: string, client: AgentClient) => void)[] = []
  const endListeners: ((workspaceId: string, reason: string) => void)[] = []
  const deps: WorkspaceSessionDeps = {
    ...options,
    onStart: (workspaceId, client) => {
      for (const listener of startListeners) listener(workspaceId, client)
    },
    onEnd: (workspaceId, reason) => {
      for (const listener of endListeners) listener(workspaceId, reason)
    },
  }

  function sessionOf(workspaceId: string): WorkspaceSession {
    const session = sessions.get(workspaceId) ?? createWorkspaceSession(workspaceId, deps)
    sessions.set(workspaceId, session)
    return session
  }

  async function stopIfIdle(session: WorkspaceSession): Promise<void> {
    const { phase } = session.view()
    if (phase.state !== 'running') return
    try {
      await noteOngoing(session, phase.client)
    } catch (error) {
      // It is gone or hangs: the connection notices by itself.
      logger.warn({ err: error, workspaceId: session.workspaceId }, 'an agent does not tell what it does')
      return
    }
    const idleFor = clock() - lastActivity(session.view())
    if (session.view().phase === phase && idleFor >= idleMilliseconds)
      await session.stop(`idle for ${Math.round(idleFor / 60_000)} minutes`)
  }

  let checking: Promise<void> | undefined
  function stopIdle(): Promise<void> {
    checking ??= Promise.allSettled([...sessions.values()].map(stopIfIdle)).then((results) => {
      checking = undefined
      for (const result of results)
        if (result.status === 'rejected')
          logger.warn({ err: result.reason }, 'an idle workspace does not stop')
    })
    return checking
  }
  const idleCheck = setInterval(stopIdle, idleCheckMilliseconds)
  idleCheck.unref()

  return {
    use(scope, activity) {
      const session = sessionOf(scope.workspaceId)
      session.note(activity)
      return session.ready(activity.detail)
    },
    running(workspaceId) {
      const phase = sessions.get(workspaceId)?.view().phase
      return phase?.state === 'running' ? phase.client : undefined
    },
    touch: (workspaceId, activity) => sessions.get(workspaceId)?.note(activity),
    stop: async ({ workspaceId }, reason) => sessions.get(workspaceId)?.stop(reason),
    async destroy(workspaceId, forget) {
      const session = sessionOf(workspaceId)
      session.retire()
      try {
        await session.stop('the workspace is being deleted')
        // Its directory may be there from an earlier run of the server.
        await runtime.destroy(await runtime.create(options.specOf(workspaceId)))
        await forget()
      } finally {
        sessions.delete(workspaceId)
      }
    },
    async status(workspaceId) {
      const session = sessions.get(workspaceId) ?? createWorkspaceSession(workspaceId, deps)
      const { phase } = session.view()
      if (phase.state === 'running') await noteOngoing(session, phase.client).catch(() => undefined)
      return describeSession(session, { runtime, idleMilliseconds })
    },
    stopIdle,
    onStart: (listener) => void startListeners.push(listener),
    onEnd: (listener) => void endListeners.push(listener),
    async [Symbol.asyncDispose]() {
      clearInterval(idleCheck)
      const stops = [...sessions.values()].map((session) => {
        session.retire()
        return session.stop('the server is stopping')
      })
      await Promise.allSettled(stops)
    },
  }
}

/** Foreground jobs and commands go on without anybody touching the session: the agent knows them. */
async function noteOngoing(session: WorkspaceSession, client: AgentClient): Promise<void> {
  const { terminals, commands } = await client.call('agent.activity', {})
  const jobs = terminals.flatMap(({ foreground }) => (foreground ? [foreground.name] : []))
  if (jobs.length > 0) session.note({ kind: 'foreground-job', detail: jobs.join(', ') })
  if (commands.length > 0)
    session.note({ kind: 'command', detail: commands.map(({ name }) => name).join(', ') })
}
