import { setTimeout as sleep } from 'node:timers/promises'
import type { WatchEvent } from '@atelier/contract/agent-processes'
import { ignoredAt } from '../../../platform/archive/import-ignored.ts'
import type { WorkspaceScope } from '../../../platform/identity/workspace-scope.ts'
import type { AgentClient } from '../../../platform/runtime/agent-client.ts'
import { clonePrefix } from '../clone-directory.ts'
import { applyChanges, type IndexRun } from './apply-changes.ts'
import { createPendingChanges, type PendingChanges, type Work } from './pending-changes.ts'
import type { SearchDocuments } from './search-documents.ts'
import type { Turns } from './turns.ts'
import { wholePass } from './whole-pass.ts'

/** A burst of changes is taken together: this long after the last of them, in milliseconds… */
const quietMilliseconds = 250
/** …but no later than this after the first. */
const longestMilliseconds = 2_000
/** Waits after failures one after another, in milliseconds; the last is repeated. */
const retryMilliseconds = [1_000, 5_000, 30_000, 120_000] as const

/**
 * How often the whole directory is compared although nothing was missed, in milliseconds: after changes, since a
 * watcher may lose one without knowing; more often, and always, where the kernel does not tell.
 */
const checkMilliseconds = { native: 600_000, polling: 300_000, off: 60_000 } as const

export type WatchMode = { mode: 'native' | 'polling' | 'off'; reason: string | null }

/** Follows the changes of one running workspace until its agent is gone. */
export interface Follower {
  readonly pending: PendingChanges
  watch(): WatchMode
  /** Resolves when it does nothing any more. */
  stop(): Promise<void>
}

export interface FollowerDependencies {
  documents: SearchDocuments
  /** one piece of work of this workspace at a time */
  workspaceTurns: Turns
  /** and few of all workspaces */
  allTurns: Turns
  /** told of every change; `null`: anything may have changed */
  onChange(paths: readonly string[] | null): void
  logger: { warn(fields: object, message: string): void }
}

export function startFollower(
  scope: WorkspaceScope,
  client: AgentClient,
  dependencies: FollowerDependencies,
): Follower {
  const { documents, workspaceTurns, allTurns, logger } = dependencies
  const stopped = new AbortController()
  const { signal } = stopped
  const pending = createPendingChanges()
  const run: IndexRun = { scope, client, documents, signal }
  let watch: WatchMode = { mode: 'off', reason: 'not watching yet' }
  let lastChange = 0
  let lastWhole = 0

  function note(event: WatchEvent): void {
    if (event.kind === 'state') {
      watch = { mode: event.mode, reason: event.reason }
      dependencies.onChange(null)
      return
    }
    const changed = event.changes.map(({ path }) => path).filter((path) => !path.startsWith(clonePrefix))
    dependencies.onChange(event.overflow ? null : changed)
    const paths = changed.filter(concernsSearch)
    if (event.overflow || paths.some(isRuleFile)) pending.addWhole()
    else pending.add(paths)
    if (paths.length > 0) lastChange = Date.now()
  }

  async function listen(): Promise<void> {
    const call = client.open('watch.start', { ignore: [`/${clonePrefix}*/`] }, { signal })
    for await (const message of call.messages) if (message.kind === 'event') note(message.event)
    await call.result
  }

  async function work(): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      await pending.ready()
      await settle()
      try {
        await workspaceTurns.run(() => allTurns.run(async () => takeAll()))
        failures = 0
      } catch (error) {
        pending.giveBack()
        if (signal.aborted) return
        logger.warn({ err: error, workspaceId: scope.workspaceId }, 'changes could not be indexed yet')
        const wait = retryMilliseconds[Math.min(failures, retryMilliseconds.length - 1)]
        failures += 1
        await sleep(wait, undefined, { signal })
      }
    }
  }

  async function takeAll(): Promise<void> {
    const taken = pending.take()
    if (taken === null) return
    await carryOut(taken)
    pending.done()
  }

  async function carryOut(taken: Work): Promise<void> {
    if (taken.kind === 'paths') return await applyChanges(run, taken.paths)
    lastWhole = Date.now()
    const { complete, files } = await wholePass(run)
    if (!complete) logger.warn({ workspaceId: scope.workspaceId, files }, 'more files than search keeps')
  }

  /** Waits until changes come no more, or have come for long enough. */
  async function settle(): Promise<void> {
    const deadline = Date.now() + longestMilliseconds
    for (let size = -1; size !== pending.size() && Date.now() < deadline; ) {
      size = pending.size()
      await sleep(quietMilliseconds, undefined, { signal })
    }
  }

  const checking = setInterval(() => {
    const due = Date.now() - lastWhole > checkMilliseconds[watch.mode]
    if (due && (watch.mode !== 'native' || lastChange > lastWhole)) pending.addWhole()
  }, checkMilliseconds.off)
  checking.unref()

  function stop(): Promise<void> {
    clearInterval(checking)
    stopped.abort()
    // Wakes the one who waits for work, who then sees that it is over.
    pending.addWhole()
    return over
  }

  /** An end of the agent ends the follower; anything else is worth a line. */
  function ended(error: unknown): void {
    if (signal.aborted) return
    watch = { mode: 'off', reason: error instanceof Error ? error.message : String(error) }
    dependencies.onChange(null)
    logger.warn({ err: error, workspaceId: scope.workspaceId }, 'a directory is no longer watched')
  }

  // What happened while nobody watched.
  pending.addWhole()
  void client.closed.then(stop)
  const working = work().catch((error: unknown) => {
    if (!signal.aborted) logger.warn({ err: error, workspaceId: scope.workspaceId }, 'indexing has ended')
  })
  const over = Promise.all([listen().catch(ended), working]).then(() => undefined)
  return { pending, watch: () => watch, stop }
}

/** Rules of what is ignored: a change of theirs may concern any file below. */
function isRuleFile(path: string): boolean {
  return path === '.gitignore' || path.endsWith('/.gitignore')
}

/** Folders that are never indexed do not even wait; a folder itself is judged by what is in it. */
function concernsSearch(path: string): boolean {
  return path !== '' && ignoredAt(path) === null && ignoredAt(`${path}/x`) === null
}
