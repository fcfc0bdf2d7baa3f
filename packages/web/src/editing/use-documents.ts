import { useUser, useWorkspace } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import type { WorkspaceDocuments } from './document-stores.ts'

/** The open documents of this person in a workspace. */
export function useDocuments(workspaceId: string): WorkspaceDocuments {
  const { documents } = useServices()
  return documents.of(useUser().id, workspaceId)
}

/** Whether this person may change files here. */
export function useCanEdit(workspaceId: string): boolean {
  const { data } = useWorkspace(workspaceId)
  return data !== undefined && data.role !== 'viewer'
}
