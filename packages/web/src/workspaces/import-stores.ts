import type { Client } from '@atelier/client'
import type { QueryClient } from '@tanstack/react-query'
import { createImportSession, type ImportSession } from './import-session.ts'

/** The import of each workspace: it goes on while the person looks at something else. */
export interface ImportStores {
  of(workspaceId: string): ImportSession
}

export function createImportStores(deps: { client: Client; queryClient: QueryClient }): ImportStores {
  const sessions = new Map<string, ImportSession>()
  return {
    of(workspaceId) {
      const known = sessions.get(workspaceId)
      if (known !== undefined) return known
      const made = createImportSession({
        client: deps.client,
        workspaceId,
        onChanged: () => void deps.queryClient.invalidateQueries({ queryKey: ['workspace', workspaceId] }),
        wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
      })
      sessions.set(workspaceId, made)
      return made
    },
  }
}
