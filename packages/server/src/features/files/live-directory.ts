import { AppError } from '../../base/app-error.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'
import { AgentError, appErrorFrom } from '../../platform/runtime/agent-error.ts'

/** The way to the directory of a workspace, which its agent alone touches. */
export interface LiveDirectory {
  /** `null` where workspaces can be started here; else why not, and what helps. */
  obstacle(): Promise<string | null>
  /** The agent of a workspace, started where it is not. Throws SERVICE_UNAVAILABLE with what helps. */
  use(scope: WorkspaceScope, detail: string): Promise<AgentClient>
  /** The agent where it runs already. */
  running(workspaceId: string): AgentClient | undefined
  /** Somebody still reads or writes: the workspace does not count as idle. */
  touch(workspaceId: string, detail: string): void
}

export function createLiveDirectory(dependencies: {
  sessions: {
    use(scope: WorkspaceScope, activity: { kind: 'request'; detail: string }): Promise<AgentClient>
    running(workspaceId: string): AgentClient | undefined
    touch(workspaceId: string, activity: { kind: 'request'; detail: string }): void
  }
  obstacle(): Promise<string | null>
}): LiveDirectory {
  const { sessions, obstacle } = dependencies
  return {
    obstacle,
    async use(scope, detail) {
      const why = await obstacle()
      if (why !== null) throw unavailable(why)
      return await sessions.use(scope, { kind: 'request', detail })
    },
    running: (workspaceId) => sessions.running(workspaceId),
    touch: (workspaceId, detail) => sessions.touch(workspaceId, { kind: 'request', detail }),
  }
}

function unavailable(why: string): AppError {
  return new AppError(
    'SERVICE_UNAVAILABLE',
    `The files of this workspace can only be read as they were imported: workspaces cannot be started on this server (${why})`,
  )
}

/** Runs `work` and turns what the agent refuses into what the caller is told. */
export async function translating<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw translated(error)
  }
}

export function translated(error: unknown): unknown {
  if (!(error instanceof AgentError)) return error
  // A file stands where the path needs a directory: there is nothing at such a path.
  if (error.code === 'NOT_A_DIRECTORY')
    return new AppError('NOT_FOUND', error.message, { details: { reason: error.code }, cause: error })
  return appErrorFrom(error)
}
