import type { User } from '@atelier/contract'
import type { Selectable } from 'kysely'
import { AppError } from '../../base/app-error.ts'
import { newId } from '../../base/ids.ts'
import type { Database } from '../../platform/db/database.ts'
import { isUniqueViolation } from '../../platform/db/database-errors.ts'
import type { UserTable } from '../../platform/db/tables.ts'
import { normaliseEmail } from '../../platform/identity/email-address.ts'

/** Finds people; for features that name them. Not a search: an address must be known to be found. */
export interface UserDirectory {
  byId(userId: string): Promise<User | null>
  /** in no order; unknown ids are left out */
  byIds(userIds: readonly string[]): Promise<User[]>
  /** whatever the spelling of the address */
  byEmail(email: string): Promise<User | null>
  /** how many accounts there are */
  count(): Promise<number>
}

export interface UserStore extends UserDirectory {
  /** Makes an account with a password. Throws CONFLICT when the address has one. */
  create(account: { name: string; email: string; passwordHash: string; createdAt: Date }): Promise<User>
}

export function createUserStore({ database }: { database: Database }): UserStore {
  const { kysely } = database
  return {
    async byId(userId) {
      const row = await kysely.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst()
      return row ? toUser(row) : null
    },

    async byIds(userIds) {
      if (userIds.length === 0) return []
      const rows = await kysely.selectFrom('users').selectAll().where('id', 'in', userIds).execute()
      return rows.map(toUser)
    },

    async byEmail(email) {
      const row = await kysely
        .selectFrom('users')
        .selectAll()
        .where('email', '=', normaliseEmail(email))
        .executeTakeFirst()
      return row ? toUser(row) : null
    },

    async count() {
      const all = kysely.selectFrom('users').select(({ fn }) => fn.countAll<number>().as('users'))
      return (await all.executeTakeFirstOrThrow()).users
    },

    async create({ name, email, passwordHash, createdAt }) {
      const id = newId('user')
      const times = { created_at: createdAt, updated_at: createdAt }
      try {
        return await kysely.transaction().execute(async (transaction) => {
          const row = await transaction
            .insertInto('users')
            .values({ id, name, email: normaliseEmail(email), image: null, ...times })
            .returningAll()
            .executeTakeFirstOrThrow()
          await transaction
            .insertInto('accounts')
            .values({ ...passwordAccount(id, passwordHash), ...times })
            .execute()
          return toUser(row)
        })
      } catch (error) {
        if (!isUniqueViolation(error, 'users_email_key')) throw error
        throw new AppError('CONFLICT', 'There is an account with this e-mail address', { cause: error })
      }
    },
  }
}

/** As the sign-in library looks it up: provider `credential`, account id = user id. */
function passwordAccount(userId: string, passwordHash: string) {
  return {
    id: userId.replace(/^usr_/, 'acc_'),
    user_id: userId,
    account_id: userId,
    provider_id: 'credential',
    password: passwordHash,
  }
}

function toUser(row: Selectable<UserTable>): User {
  const { id, name, email, role, created_at } = row
  return { id, name, email, role, createdAt: created_at.toISOString() }
}
