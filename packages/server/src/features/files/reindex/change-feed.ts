import { setTimeout as sleep } from 'node:timers/promises'
import type { DirectoryChange } from '@atelier/contract'
import { AppError } from '../../../base/app-error.ts'
import { createPendingChanges, type PendingChanges } from './pending-changes.ts'

/** Readers of one workspace at a time: some tabs of everybody in it. */
export const maxChangeReaders = 200

/** Of those, one user may take so many: nobody shuts the others out. */
export const maxChangeReadersPerUser = 20

/** Changes of this long are told together, in milliseconds: a checkout is a few events, not thousands. */
const gatherMilliseconds = 100

/** Tells whoever shows a directory what changes in it. A reader who is slow gets fewer events, never older ones. */
export interface ChangeFeed {
  /** `null`: anything may have changed */
  publish(workspaceId: string, paths: readonly string[] | null): void
  /**
   * Begins with an event for everything, because the caller may have read before. Ends when `signal` aborts. Throws
   * RATE_LIMITED where too many listen, or the user does too often.
   */
  watch(reader: { workspaceId: string; userId: string }, signal: AbortSignal): AsyncIterable<DirectoryChange>
}

export function createChangeFeed(dependencies: {
  watching(workspaceId: string): Pick<DirectoryChange, 'watching' | 'reason'>
}): ChangeFeed {
  const readers = new Map<string, Map<PendingChanges, string>>()

  async function* follow(
    { workspaceId, userId }: { workspaceId: string; userId: string },
    signal: AbortSignal,
  ): AsyncGenerator<DirectoryChange> {
    const pending = createPendingChanges()
    const wake = () => pending.addWhole()
    const beside = readers.get(workspaceId) ?? new Map()
    readers.set(workspaceId, beside.set(pending, userId))
    signal.addEventListener('abort', wake, { once: true })
    pending.addWhole()
    try {
      for (;;) {
        await pending.ready()
        if (signal.aborted) return
        const taken = pending.take()
        pending.done()
        if (taken === null) continue
        const paths = taken.kind === 'paths' ? [...taken.paths] : []
        yield { paths, all: taken.kind === 'whole', ...dependencies.watching(workspaceId) }
        await sleep(gatherMilliseconds)
      }
    } finally {
      signal.removeEventListener('abort', wake)
      beside.delete(pending)
      if (beside.size === 0) readers.delete(workspaceId)
    }
  }

  return {
    publish(workspaceId, paths) {
      for (const pending of readers.get(workspaceId)?.keys() ?? [])
        if (paths === null) pending.addWhole()
        else pending.add(paths)
    },
    watch({ workspaceId, userId }, signal) {
      const users = [...(readers.get(workspaceId)?.values() ?? [])]
      if (users.filter((other) => other === userId).length >= maxChangeReadersPerUser)
        throw new AppError(
          'RATE_LIMITED',
          `More than ${maxChangeReadersPerUser} of your tabs and programs listen to this workspace`,
        )
      if (users.length >= maxChangeReaders)
        throw new AppError('RATE_LIMITED', `More than ${maxChangeReaders} listen to this workspace`)
      return follow({ workspaceId, userId }, signal)
    },
  }
}
