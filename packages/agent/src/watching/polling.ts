import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DirectoryHandle } from '../files/directory-handle.ts'
import { lookUp } from '../files/open-file.ts'
import { versionOf } from '../files/revision.ts'
import { walk, wholeTree } from '../files/walk.ts'
import { type Change, unwatched } from './native-watcher.ts'

const pollMs = 3000
/** Entries compared each time; a larger tree is watched only in part. */
const comparedEntries = 20_000
const entriesPerTurn = 500

/** Compares the tree every few seconds, for machines whose kernel has no watches left. */
export function startPolling(root: DirectoryHandle, report: (changes: Change[]) => void): { stop(): void } {
  const stopped = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const round = async (before: Map<string, string> | undefined) => {
    const now = await snapshot(root, stopped.signal)
    if (stopped.signal.aborted) return
    const changes = before === undefined ? [] : compare(before, now)
    if (changes.length > 0) report(changes)
    timer = setTimeout(() => void round(now), pollMs)
  }
  void round(undefined)
  return {
    stop() {
      stopped.abort()
      clearTimeout(timer)
    },
  }
}

async function snapshot(root: DirectoryHandle, signal: AbortSignal): Promise<Map<string, string>> {
  const versions = new Map<string, string>()
  const skip = new Set<string>(unwatched)
  for (const { path, name, parent } of walk(root, { ...wholeTree, gitignore: 'show' })) {
    if (signal.aborted || versions.size >= comparedEntries) break
    if (path.split('/').some((part) => skip.has(part))) continue
    const stats = lookUp(parent, name)
    // A directory changes with every entry, which is reported by itself.
    if (stats !== undefined) versions.set(path, stats.isDirectory() ? 'directory' : versionOf(stats))
    if (versions.size % entriesPerTurn === 0) await nextTurn()
  }
  return versions
}

function compare(before: Map<string, string>, now: Map<string, string>): Change[] {
  const changes: Change[] = []
  for (const [path, version] of now) {
    const old = before.get(path)
    if (old === undefined) changes.push({ path, type: 'create' })
    else if (old !== version) changes.push({ path, type: 'update' })
  }
  for (const path of before.keys()) if (!now.has(path)) changes.push({ path, type: 'delete' })
  return changes
}
