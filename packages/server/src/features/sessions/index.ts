import type { Database } from '../../platform/db/database.ts'
import { createEpochStore } from './epoch-store.ts'
import {
  type SessionsOptions,
  createWorkspaceSessions as sessionsWith,
  type WorkspaceSessions,
} from './workspace-sessions.ts'

export { mountSessionRoutes } from './session-routes.ts'
export type { WorkspaceSessions } from './workspace-sessions.ts'

/** The sandboxes of all workspaces on this node. */
export function createWorkspaceSessions(
  options: Omit<SessionsOptions, 'epochs'> & { database: Database },
): WorkspaceSessions {
  return sessionsWith({ ...options, epochs: createEpochStore(options) })
}
