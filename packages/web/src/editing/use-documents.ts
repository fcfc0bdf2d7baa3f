import { useUser, useWorkspace } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { useWorkspaceStatus } from '../sessions/use-workspace-status.ts'
import type { WorkspaceDocuments } from './document-stores.ts'

/** The open documents of this person in a workspace. */
export function useDocuments(workspaceId: string): WorkspaceDocuments {
  const { documents } = useServices()
  return documents.of(useUser().id, workspaceId)
}

/** Why this person cannot change files here; null where that is possible. */
export function useReadOnly(workspaceId: string): string | null {
  const workspace = useWorkspace(workspaceId)
  const status = useWorkspaceStatus(workspaceId)
  if (workspace.data === undefined || workspace.data.role === 'viewer') return 'Your role here is viewer'
  if (status.data?.isolation.available === false)
    return 'Workspaces cannot be started on this server: files are as they were imported'
  return null
}

export function useCanEdit(workspaceId: string): boolean {
  return useReadOnly(workspaceId) === null
}
