import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../platform/db/database.ts'
import type { LiveSession, LiveSessions } from '../../platform/identity/authenticate.ts'

/** A session nobody used for so long has ended. */
export const sessionIdleMilliseconds = 24 * 60 * 60 * 1000

/** How exact `last_active_at` is: one write a minute instead of one a request. */
const activityStepMilliseconds = 60_000

export interface SessionStore extends LiveSessions {
  end(sessionId: string): Promise<void>
  /** Ends the session of a token, live or not. */
  endByToken(token: string): Promise<void>
  /** Removes the sessions of a user that have ended anyway. */
  prune(userId: string): Promise<void>
}

export function createSessionStore(options: { database: Database; clock: Clock }): SessionStore {
  const { clock } = options
  const { kysely } = options.database

  async function find(column: 'sessions.id' | 'sessions.token', value: string): Promise<LiveSession | null> {
    const row = await kysely
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .select([
        'sessions.id',
        'sessions.user_id',
        'sessions.expires_at',
        'sessions.last_active_at',
        'users.role',
        'users.banned',
      ])
      .where(column, '=', value)
      .executeTakeFirst()
    if (!row || row.banned) return null
    const lastActiveAt = row.last_active_at.getTime()
    const expiresAt = Math.min(row.expires_at.getTime(), lastActiveAt + sessionIdleMilliseconds)
    if (expiresAt <= clock()) return null
    return { sessionId: row.id, userId: row.user_id, admin: row.role === 'admin', expiresAt, lastActiveAt }
  }

  return {
    byToken: (token) => find('sessions.token', token),
    byId: (sessionId) => find('sessions.id', sessionId),

    async used({ sessionId, lastActiveAt }) {
      const now = clock()
      if (now - lastActiveAt < activityStepMilliseconds) return
      await kysely
        .updateTable('sessions')
        .set({ last_active_at: new Date(now) })
        .where('id', '=', sessionId)
        .execute()
    },

    async end(sessionId) {
      await kysely.deleteFrom('sessions').where('id', '=', sessionId).execute()
    },

    async endByToken(token) {
      await kysely.deleteFrom('sessions').where('token', '=', token).execute()
    },

    async prune(userId) {
      const now = clock()
      await kysely
        .deleteFrom('sessions')
        .where('user_id', '=', userId)
        .where((where) =>
          where.or([
            where('expires_at', '<=', new Date(now)),
            where('last_active_at', '<=', new Date(now - sessionIdleMilliseconds)),
          ]),
        )
        .execute()
    },
  }
}
