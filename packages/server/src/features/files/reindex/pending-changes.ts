/** More changed paths than this are not kept apart: comparing the whole directory is cheaper then. */
export const maxPendingPaths = 1_000

/** What has to be looked at: some paths, or everything. */
export type Work = { kind: 'paths'; paths: readonly string[] } | { kind: 'whole' }

/** The changes of one directory that the index does not have yet. Bounded: what is too much becomes `whole`. */
export interface PendingChanges {
  add(paths: readonly string[]): void
  /** everything must be compared */
  addWhole(): void
  /** Takes all there is; `null` where there is nothing. It counts as pending until it is done. */
  take(): Work | null
  /** What was taken is in the index. */
  done(): void
  /** What was taken could not be done, and waits again. */
  giveBack(): void
  /** Paths that wait or are under way; at least 1 while the whole directory is compared. */
  size(): number
  has(path: string): boolean
  /** Resolves when there is something to take. */
  ready(): Promise<void>
}

export function createPendingChanges(): PendingChanges {
  const paths = new Set<string>()
  let whole = false
  let taken: Work | null = null
  let waiting = Promise.withResolvers<void>()

  function add(added: readonly string[]): void {
    if (!whole) for (const path of added) paths.add(path)
    if (paths.size > maxPendingPaths) addWhole()
    else if (added.length > 0) waiting.resolve()
  }

  function addWhole(): void {
    whole = true
    paths.clear()
    waiting.resolve()
  }

  return {
    add,
    addWhole,
    take() {
      if (!whole && paths.size === 0) return null
      taken = whole ? { kind: 'whole' } : { kind: 'paths', paths: [...paths] }
      whole = false
      paths.clear()
      waiting = Promise.withResolvers()
      return taken
    },
    done() {
      taken = null
    },
    giveBack() {
      const failed = taken
      taken = null
      if (failed?.kind === 'whole') addWhole()
      else if (failed) add(failed.paths)
    },
    size() {
      const underWay = taken === null ? 0 : taken.kind === 'whole' ? 1 : taken.paths.length
      return (whole ? 1 : paths.size) + underWay
    },
    has: (path) =>
      whole || paths.has(path) || taken?.kind === 'whole' || taken?.paths.includes(path) === true,
    ready: () => waiting.promise,
  }
}
