import type { WorkspaceRole } from '@atelier/contract'

declare const guarded: unique symbol

/**
 * A workspace id that has been through the guard. Every store of workspace data demands one, so a query
 * with an unchecked id does not type-check; row-level security stands under it.
 */
export interface WorkspaceScope {
  readonly workspaceId: string
  /** who acts; `null` for work the server does for the workspace itself, such as indexing */
  readonly userId: string | null
  readonly role: WorkspaceRole
  /** the key that they act with, if it is one */
  readonly apiKeyId?: string
  readonly [guarded]: true
}

/** Only the workspace guard and the job runner call this, each after its own check. */
export function grantWorkspaceScope(scope: {
  workspaceId: string
  userId: string | null
  role: WorkspaceRole
  apiKeyId?: string
}): WorkspaceScope {
  return Object.freeze({ ...scope }) as WorkspaceScope
}
