import type { WorkspaceRole } from '@atelier/contract'
import type { Transaction } from 'kysely'
import type { Database } from '../../platform/db/database.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'

export interface Membership {
  userId: string
  role: WorkspaceRole
}

/** What a change of members came to. Nothing was written unless it is `done`. */
export type MemberChange = 'done' | 'no-such-member' | 'already-member' | 'last-owner' | 'full' | 'gone'

/** The only SQL about who belongs to a workspace. Every change locks the workspace, so that two cannot cross. */
export function createMemberStore({ database }: { database: Database }) {
  function change(
    scope: WorkspaceScope,
    decide: (transaction: Transaction<Tables>, members: Membership[]) => Promise<MemberChange>,
  ): Promise<MemberChange> {
    return database.inWorkspace(scope, async (transaction) => {
      const workspace = await transaction
        .selectFrom('workspaces')
        .select('id')
        .where('id', '=', scope.workspaceId)
        .forUpdate()
        .executeTakeFirst()
      return workspace ? await decide(transaction, await listIn(transaction, scope)) : 'gone'
    })
  }

  return {
    /** In the order they joined. */
    list: (scope: WorkspaceScope): Promise<Membership[]> =>
      database.inWorkspace(scope, (transaction) => listIn(transaction, scope)),

    add: (scope: WorkspaceScope, { userId, role }: Membership, maxMembers: number): Promise<MemberChange> =>
      change(scope, async (transaction, members) => {
        if (members.some((member) => member.userId === userId)) return 'already-member'
        if (members.length >= maxMembers) return 'full'
        await transaction
          .insertInto('workspace_members')
          .values({ workspace_id: scope.workspaceId, user_id: userId, role })
          .execute()
        return 'done'
      }),

    changeRole: (scope: WorkspaceScope, { userId, role }: Membership): Promise<MemberChange> =>
      change(scope, async (transaction, members) => {
        if (!members.some((member) => member.userId === userId)) return 'no-such-member'
        if (role !== 'owner' && isLastOwner(members, userId)) return 'last-owner'
        await transaction
          .updateTable('workspace_members')
          .set({ role })
          .where('workspace_id', '=', scope.workspaceId)
          .where('user_id', '=', userId)
          .execute()
        return 'done'
      }),

    remove: (scope: WorkspaceScope, userId: string): Promise<MemberChange> =>
      change(scope, async (transaction, members) => {
        if (!members.some((member) => member.userId === userId)) return 'no-such-member'
        if (isLastOwner(members, userId)) return 'last-owner'
        await transaction
          .deleteFrom('workspace_members')
          .where('workspace_id', '=', scope.workspaceId)
          .where('user_id', '=', userId)
          .execute()
        return 'done'
      }),
  }
}

export type MemberStore = ReturnType<typeof createMemberStore>

async function listIn(transaction: Transaction<Tables>, scope: WorkspaceScope): Promise<Membership[]> {
  const rows = await transaction
    .selectFrom('workspace_members')
    .select(['user_id', 'role'])
    .where('workspace_id', '=', scope.workspaceId)
    .orderBy('created_at')
    .orderBy('user_id')
    .execute()
  return rows.map((row) => ({ userId: row.user_id, role: row.role }))
}

function isLastOwner(members: readonly Membership[], userId: string): boolean {
  const owners = members.filter(({ role }) => role === 'owner')
  return owners.length === 1 && owners[0]?.userId === userId
}
