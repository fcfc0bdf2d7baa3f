import type { DirectoryChange, IndexState } from '@atelier/contract'
import { grantWorkspaceScope } from '../../../platform/identity/workspace-scope.ts'
import type { AgentClient } from '../../../platform/runtime/agent-client.ts'
import { createChangeFeed } from './change-feed.ts'
import { type Follower, startFollower } from './follower.ts'
import type { SearchDocuments } from './search-documents.ts'
import { createTurns, type Turns } from './turns.ts'

/** Workspaces that are indexed at once on one node: indexing is heavy, and requests come first. */
const workspacesAtOnce = 2

/** Keeps the documents of search like the directories of running workspaces, in the background. */
export interface Reindexer extends AsyncDisposable {
  /** Follows a workspace whose agent has come up. */
  follow(workspaceId: string, client: AgentClient): void
  /** Something was changed through the interface: it need not wait for the watcher. */
  changed(workspaceId: string, paths: readonly string[]): void
  /** What search lacks of a directory. */
  state(workspaceId: string): IndexState['changes']
  isPending(workspaceId: string, path: string): boolean
  /** Every change of a directory, beginning with one for everything. */
  watch(reader: { workspaceId: string; userId: string }, signal: AbortSignal): AsyncIterable<DirectoryChange>
  /** Runs work that writes documents of a workspace itself, while nothing else of it is indexed. */
  exclusively<Value>(workspaceId: string, work: () => Promise<Value>): Promise<Value>
}

export function createReindexer(dependencies: {
  documents: SearchDocuments
  logger: { warn(fields: object, message: string): void }
}): Reindexer {
  const followers = new Map<string, Follower>()
  const turns = new Map<string, { turns: Turns; users: number }>()
  const allTurns = createTurns(workspacesAtOnce)
  const feed = createChangeFeed({ watching })

  function watching(workspaceId: string): Pick<DirectoryChange, 'watching' | 'reason'> {
    const watch = followers.get(workspaceId)?.watch()
    return { watching: watch?.mode ?? null, reason: watch?.reason ?? null }
  }

  async function exclusively<Value>(workspaceId: string, work: () => Promise<Value>): Promise<Value> {
    const entry = turns.get(workspaceId) ?? { turns: createTurns(1), users: 0 }
    turns.set(workspaceId, entry)
    entry.users += 1
    try {
      return await entry.turns.run(work)
    } finally {
      entry.users -= 1
      if (entry.users === 0) turns.delete(workspaceId)
    }
  }

  return {
    follow(workspaceId, client) {
      void followers.get(workspaceId)?.stop()
      // The workspace has just been started for somebody whom the guard has let in.
      const scope = grantWorkspaceScope({ workspaceId, userId: null, role: 'owner' })
      const follower = startFollower(scope, client, {
        ...dependencies,
        workspaceTurns: { run: (work) => exclusively(workspaceId, work) },
        allTurns,
        onChange: (paths) => feed.publish(workspaceId, paths),
      })
      followers.set(workspaceId, follower)
      void client.closed.then(() => {
        if (followers.get(workspaceId) !== follower) return
        followers.delete(workspaceId)
        feed.publish(workspaceId, null)
      })
    },
    changed: (workspaceId, paths) => followers.get(workspaceId)?.pending.add(paths),
    state: (workspaceId) => ({
      pending: followers.get(workspaceId)?.pending.size() ?? 0,
      ...watching(workspaceId),
    }),
    watch: feed.watch,
    isPending: (workspaceId, path) => followers.get(workspaceId)?.pending.has(path) ?? false,
    exclusively,
    async [Symbol.asyncDispose]() {
      await Promise.all([...followers.values()].map((follower) => follower.stop()))
      followers.clear()
    },
  }
}
