import type { ActivityKind, WorkspacePort } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import { openingAddress } from '../../platform/proxied/content-entry.ts'
import type { ContentNames } from '../../platform/proxied/content-names.ts'
import type { ContentTarget } from '../../platform/proxied/content-server.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'
import { AgentError } from '../../platform/runtime/agent-error.ts'
import { dialAgent } from '../../platform/runtime/dial-agent.ts'

/** What previews need of the sandboxes: to look at what runs, never to start anything. */
export interface RunningWorkspaces {
  running(workspaceId: string): AgentClient | undefined
  touch(workspaceId: string, activity: { kind: ActivityKind; detail: string }): void
}

export interface Previews {
  /** Ports of a workspace that runs, with the addresses for a browser that is at the platform as `host`. */
  ports(scope: WorkspaceScope, host: string | undefined): Promise<WorkspacePort[]>
  /** One port. Whether anything listens there shows when it is asked. */
  target(workspaceId: string, port: number): ContentTarget
}

export function createPreviews({
  sessions,
  names,
}: {
  sessions: RunningWorkspaces
  names: ContentNames
}): Previews {
  return {
    async ports({ workspaceId }, host) {
      const agent = sessions.running(workspaceId)
      if (!agent) return []
      const { ports } = await agent.call('ports.list', {})
      return ports.map(({ port, address }) => {
        const origin = names.originOf(names.labelOf({ kind: 'port', port, workspaceId }), host)
        return { port, address, url: origin && openingAddress(origin, host, '/') }
      })
    },
    target: (workspaceId, port) => ({
      workspaceId,
      // Whatever listens may be a shell or a debugger: who could not open a terminal does not reach it.
      least: 'editor',
      stripAuthorization: false,
      used: () => sessions.touch(workspaceId, { kind: 'preview', detail: `port ${port}` }),
      async connect() {
        const agent = sessions.running(workspaceId)
        // Opening an address must not start anything: any page can send a browser there.
        if (!agent)
          throw new AppError('PROVIDER_ERROR', 'The workspace does not run; start it, then its program')
        try {
          return await dialAgent(agent, { kind: 'tcp', port })
        } catch (error) {
          throw unreachable(port, error)
        }
      },
    }),
  }
}

function unreachable(port: number, cause: unknown): AppError {
  if (cause instanceof AgentError && (cause.code === 'REFUSED' || cause.code === 'TIMEOUT')) {
    return new AppError(
      'PROVIDER_ERROR',
      `Nothing answers on port ${port} of this workspace. Start a program there that listens on 127.0.0.1:${port} or 0.0.0.0:${port}, then reload.`,
      { cause },
    )
  }
  return new AppError('SERVICE_UNAVAILABLE', 'The workspace cannot be reached now; try again', { cause })
}
