import { LRUCache } from 'lru-cache'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { ResidentStore } from './resident-store.ts'
import { createWorkspaceIndex, type IndexView, type WorkspaceIndex } from './workspace-index.ts'

/** Memory that the indexes of all workspaces share, in bytes. 20,000 chunks take about 30 MB. */
const maxResidentBytes = 256 * 1_048_576
/** Contents that are read at once, about ten chunks each: few, so that other work gets its turn in between… */
const fewestContentsPerPage = 40
const mostContentsPerPage = 400
/** …but in so few pages, each a segment, that a large workspace needs no merge when it is loaded. */
const pagesOfLoad = 48
const vectorsPerPage = 1_000

interface Entry {
  index: WorkspaceIndex
  /** of the database, when the index was last brought up to it */
  version: number
  refreshing: Promise<void> | null
}

/**
 * The indexes in memory of this node. The database's version of a workspace decides whether one is current, so any number
 * of nodes can hold and change the same workspace.
 */
export interface ResidentIndexes {
  /** The index, if it is here and of this version or a later one. */
  current(scope: WorkspaceScope, version: number): IndexView | null
  /** Brings the index to `version` at least: loads it, or what changed since. */
  refresh(scope: WorkspaceScope, version: number): Promise<void>
}

export function createResidentIndexes(options: {
  store: ResidentStore
  dimensions: number
  maxBytes?: number
}): ResidentIndexes {
  const { store, dimensions, maxBytes = maxResidentBytes } = options
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    // One that is larger than all of it is still held, alone.
    sizeCalculation: ({ index }) => Math.min(maxBytes, Math.max(1, index.bytes())),
  })
  /** The cache measures a value only when it is new to it. */
  const hold = (workspaceId: string, entry: Entry) => {
    entries.delete(workspaceId)
    entries.set(workspaceId, entry)
  }

  async function load(scope: WorkspaceScope, entry: Entry, version: number): Promise<void> {
    const { index } = entry
    const missing = index.setDocuments(await store.documents(scope))
    const pageSize = Math.min(
      mostContentsPerPage,
      Math.max(fewestContentsPerPage, Math.ceil(missing.length / pagesOfLoad)),
    )
    for (let from = 0; from < missing.length; from += pageSize) {
      index.addChunks(await store.chunks(scope, missing.slice(from, from + pageSize)))
    }
    if (entry.version > 0) await loadVectors(scope, entry)
    index.publish()
    // Later changes may be in it already, which does no harm: they are recognised when they are met again.
    entry.version = version
  }

  async function loadVectors(scope: WorkspaceScope, { index, version }: Entry): Promise<void> {
    for (let after = 0; ; ) {
      const page = await store.vectorsSince(scope, version, after, vectorsPerPage)
      index.setVectors(page)
      const last = page.at(-1)
      if (last === undefined || page.length < vectorsPerPage) return
      after = last.chunkId
    }
  }

  return {
    current: ({ workspaceId }, version) => {
      const entry = entries.get(workspaceId)
      return entry !== undefined && entry.version >= version ? entry.index.view() : null
    },
    async refresh(scope, version) {
      const { workspaceId } = scope
      // Held whatever its version: an empty workspace is at 0 and has to be found here like any other.
      const entry = entries.get(workspaceId) ?? {
        index: createWorkspaceIndex({ dimensions }),
        version: 0,
        refreshing: null,
      }
      if (entry.refreshing !== null) {
        await entry.refreshing
      } else if (!entries.has(workspaceId) || entry.version < version) {
        entry.refreshing = load(scope, entry, version).finally(() => {
          entry.refreshing = null
        })
        // Set before the load, so that searches that come meanwhile wait for it, and after it, with its true size.
        hold(workspaceId, entry)
        try {
          await entry.refreshing
          hold(workspaceId, entry)
        } catch (error) {
          // What was loaded half is not to be built upon.
          entries.delete(workspaceId)
          throw error
        }
      }
    },
  }
}
