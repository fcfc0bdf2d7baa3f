import { notFound } from '../../base/app-error.ts'
import type { Database } from '../../platform/db/database.ts'

/** Numbers the starts of each workspace, so that a late agent or node of an earlier start is refused. */
export interface EpochStore {
  /** One more than any before, for all nodes on this database. Throws NOT_FOUND where the workspace is gone. */
  next(workspaceId: string): Promise<bigint>
}

export function createEpochStore({ database }: { database: Database }): EpochStore {
  return {
    async next(workspaceId) {
      const row = await database.kysely
        .updateTable('workspaces')
        .set((row) => ({ session_epoch: row('session_epoch', '+', 1) }))
        .where('id', '=', workspaceId)
        .returning('session_epoch')
        .executeTakeFirst()
      if (!row) throw notFound('Workspace')
      return BigInt(row.session_epoch)
    },
  }
}
