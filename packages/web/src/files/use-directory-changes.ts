import { useEffect } from 'react'
import { useServices } from '../lib/services.tsx'
import { usePageVisible } from '../lib/use-page-visible.ts'
import { followDirectory } from './directory-changes.ts'

/** Follows what changes on disk while the page is looked at: a browser has few connections, and hidden pages need none. */
export function useDirectoryChanges(workspaceId: string): void {
  const { client, queryClient } = useServices()
  const visible = usePageVisible()
  useEffect(() => {
    if (!visible) return
    const left = new AbortController()
    void followDirectory({ client, queryClient, workspaceId, signal: left.signal })
    return () => left.abort()
  }, [client, queryClient, workspaceId, visible])
}
