import { createPersistedStore } from '../lib/persisted-store.ts'
import type { Store } from '../lib/store.ts'
import { OpenTabs } from './tabs.ts'

/** The open tabs of each workspace. */
export interface TabStores {
  of(workspaceId: string): Store<OpenTabs>
}

export function createTabStores(storage: Storage): TabStores {
  const stores = new Map<string, Store<OpenTabs>>()
  return {
    of(workspaceId) {
      const known = stores.get(workspaceId)
      if (known !== undefined) return known
      const made = createPersistedStore<OpenTabs>({
        key: `atelier.tabs.${workspaceId}`,
        schema: OpenTabs,
        initial: { tabs: [], lastKey: null },
        storage,
      })
      stores.set(workspaceId, made)
      return made
    },
  }
}
