import type { User, WorkspaceMember, WorkspaceRole } from '@atelier/contract'
import { AppError, invalidField, notFound } from '../../base/app-error.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { UserDirectory } from '../auth/index.ts'
import type { MemberChange, MemberStore } from './member-store.ts'
import { requireRole } from './workspace-guard.ts'
import { maxMembers } from './workspace-limits.ts'

export interface Members {
  list(scope: WorkspaceScope): Promise<WorkspaceMember[]>
  /** Throws VALIDATION_ERROR where nobody is registered with the address, CONFLICT for a member or a full workspace. */
  add(scope: WorkspaceScope, member: { email: string; role: WorkspaceRole }): Promise<WorkspaceMember>
  /** Throws NOT_FOUND for a stranger, CONFLICT where no owner would be left. */
  changeRole(scope: WorkspaceScope, member: { userId: string; role: WorkspaceRole }): Promise<WorkspaceMember>
  /** As `changeRole`; FORBIDDEN to who is no owner and does not remove himself. */
  remove(scope: WorkspaceScope, userId: string): Promise<void>
}

export function createMembers(dependencies: {
  store: MemberStore
  users: Pick<UserDirectory, 'byIds' | 'byEmail'>
}): Members {
  const { store, users } = dependencies
  return {
    async list(scope) {
      const memberships = await store.list(scope)
      const known = await users.byIds(memberships.map(({ userId }) => userId))
      const byId = new Map(known.map((user) => [user.id, user]))
      return memberships.flatMap(({ userId, role }) => {
        const user = byId.get(userId)
        return user ? [toMember(user, role)] : []
      })
    },
    async add(scope, { email, role }) {
      const user = await users.byEmail(email)
      if (!user) throw invalidField('email', 'is not the address of a registered person')
      requireDone(await store.add(scope, { userId: user.id, role }, maxMembers))
      return toMember(user, role)
    },
    async changeRole(scope, member) {
      requireDone(await store.changeRole(scope, member))
      const [user] = await users.byIds([member.userId])
      if (!user) throw notFound('Member')
      return toMember(user, member.role)
    },
    async remove(scope, userId) {
      if (userId !== scope.userId) requireRole(scope.role, 'owner')
      requireDone(await store.remove(scope, userId))
    },
  }
}

function toMember({ id, name, email }: User, role: WorkspaceRole): WorkspaceMember {
  return { userId: id, name, email, role }
}

const refusals: Record<Exclude<MemberChange, 'done'>, () => AppError> = {
  gone: () => notFound('Workspace'),
  'no-such-member': () => notFound('Member'),
  'already-member': () =>
    new AppError('CONFLICT', 'This person is a member already; change the role instead'),
  'last-owner': () => new AppError('CONFLICT', 'The last owner stays; make somebody else an owner first'),
  full: () => new AppError('CONFLICT', `A workspace can have ${maxMembers} members`),
}

function requireDone(change: MemberChange): void {
  if (change !== 'done') throw refusals[change]()
}
