import type { Workspace, WorkspaceRole } from '@atelier/contract'
import { sql, type Transaction } from 'kysely'
import { newId } from '../../base/ids.ts'
import type { Database } from '../../platform/db/database.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'

/** Makes two requests of one person that count what they own wait for each other; any constant will do. */
const ownerLock = 1_463_898_701

/** The only SQL about workspaces as such; their members are in `member-store.ts`. */
export function createWorkspaceStore({ database }: { database: Database }) {
  const { kysely } = database

  return {
    /** The role of a user in a workspace, `null` for a stranger or where there is no such workspace. */
    async findRole(workspaceId: string, userId: string): Promise<WorkspaceRole | null> {
      const row = await kysely
        .selectFrom('workspace_members')
        .select('role')
        .where('workspace_id', '=', workspaceId)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      return row?.role ?? null
    },

    /** Makes a workspace with its first owner, `null` where the person owns `maxOwned` already. */
    create: (options: { userId: string; name: string; maxOwned: number }): Promise<Workspace | null> =>
      kysely.transaction().execute(async (transaction) => {
        const { userId, name, maxOwned } = options
        await sql`select pg_advisory_xact_lock(${ownerLock}, hashtext(${userId}))`.execute(transaction)
        if ((await countOwned(transaction, userId)) >= maxOwned) return null
        const row = await transaction
          .insertInto('workspaces')
          .values({ id: newId('workspace'), name })
          .returningAll()
          .executeTakeFirstOrThrow()
        await transaction
          .insertInto('workspace_members')
          .values({ workspace_id: row.id, user_id: userId, role: 'owner' })
          .execute()
        return toWorkspace({ ...row, role: 'owner' })
      }),

    /** Those of a user, newest first; only those of `ids` unless that is `null`. */
    async list(options: {
      userId: string
      ids: readonly string[] | null
      limit: number
      before: string | undefined
    }): Promise<Workspace[]> {
      const { userId, ids, limit, before } = options
      const rows = await kysely
        .selectFrom('workspace_members as member')
        .innerJoin('workspaces as workspace', 'workspace.id', 'member.workspace_id')
        .select([
          'workspace.id',
          'workspace.name',
          'workspace.created_at',
          'workspace.updated_at',
          'member.role',
        ])
        .where('member.user_id', '=', userId)
        .$if(ids !== null, (query) => query.where('member.workspace_id', 'in', ids ?? []))
        .$if(before !== undefined, (query) => query.where('member.workspace_id', '<', before ?? ''))
        .orderBy('member.workspace_id', 'desc')
        .limit(limit)
        .execute()
      return rows.map(toWorkspace)
    },

    /** `null` where it was deleted since the guard. */
    find: (scope: WorkspaceScope): Promise<Workspace | null> =>
      database.inWorkspace(scope, async (transaction) => {
        const row = await transaction
          .selectFrom('workspaces')
          .selectAll()
          .where('id', '=', scope.workspaceId)
          .executeTakeFirst()
        return row ? toWorkspace({ ...row, role: scope.role }) : null
      }),

    rename: (scope: WorkspaceScope, name: string): Promise<Workspace | null> =>
      database.inWorkspace(scope, async (transaction) => {
        const row = await transaction
          .updateTable('workspaces')
          .set({ name, updated_at: sql<Date>`now()` })
          .where('id', '=', scope.workspaceId)
          .returningAll()
          .executeTakeFirst()
        return row ? toWorkspace({ ...row, role: scope.role }) : null
      }),

    /** With everything that refers to it. */
    delete: async (scope: WorkspaceScope): Promise<void> => {
      await database.inWorkspace(scope, (transaction) =>
        transaction.deleteFrom('workspaces').where('id', '=', scope.workspaceId).execute(),
      )
    },
  }
}

export type WorkspaceStore = ReturnType<typeof createWorkspaceStore>

async function countOwned(transaction: Transaction<Tables>, userId: string): Promise<number> {
  const { owned } = await transaction
    .selectFrom('workspace_members')
    .select(({ fn }) => fn.countAll<number>().as('owned'))
    .where('user_id', '=', userId)
    .where('role', '=', 'owner')
    .executeTakeFirstOrThrow()
  return owned
}

function toWorkspace(row: {
  id: string
  name: string
  role: WorkspaceRole
  created_at: Date
  updated_at: Date
}): Workspace {
  const { id, name, role } = row
  return { id, name, role, createdAt: row.created_at.toISOString(), updatedAt: row.updated_at.toISOString() }
}
