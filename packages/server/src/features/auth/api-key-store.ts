import type { ApiKey, Scope } from '@atelier/contract'
import type { Selectable } from 'kysely'
import { AppError, notFound } from '../../base/app-error.ts'
import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../platform/db/database.ts'
import type { ApiKeyTable } from '../../platform/db/tables.ts'
import { apiKeyPrefix } from '../../platform/identity/api-key-format.ts'
import type { ApiKeyLookup, StoredApiKey } from '../../platform/identity/authenticate.ts'

/** Keys of one user that have neither ended nor been revoked. The list is not paged, so it must end. */
export const maxApiKeysPerUser = 100

/** How exact `lastUsedAt` is: one write a minute instead of one a request. */
const usageStepMilliseconds = 60_000

export interface ApiKeyStore extends ApiKeyLookup {
  byId(apiKeyId: string): Promise<StoredApiKey | null>
  /** Throws CONFLICT when the user has `maxApiKeysPerUser` keys. */
  add(key: NewApiKeyRow): Promise<ApiKey>
  /** the keys of a user that are not revoked, newest first; ended ones too */
  list(userId: string): Promise<ApiKey[]>
  /** Throws NOT_FOUND unless the user has such a key that is not revoked. */
  revoke(userId: string, apiKeyId: string): Promise<void>
}

export interface NewApiKeyRow {
  id: string
  publicId: string
  hash: Buffer
  userId: string
  name: string
  scopes: readonly Scope[]
  workspaceIds: readonly string[] | null
  expiresAt: Date
}

export function createApiKeyStore(options: { database: Database; clock: Clock }): ApiKeyStore {
  const { clock } = options
  const { kysely } = options.database

  async function find(column: 'id' | 'public_id', value: string): Promise<StoredApiKey | null> {
    const row = await kysely
      .selectFrom('api_keys')
      .innerJoin('users', 'users.id', 'api_keys.user_id')
      .selectAll('api_keys')
      .select('users.banned')
      .where(`api_keys.${column}`, '=', value)
      .executeTakeFirst()
    return row ? toStored(row, clock()) : null
  }

  return {
    byPublicId: (publicId) => find('public_id', publicId),
    byId: (apiKeyId) => find('id', apiKeyId),

    async used({ apiKeyId, lastUsedAt }) {
      const now = clock()
      if (lastUsedAt !== null && now - lastUsedAt < usageStepMilliseconds) return
      await kysely
        .updateTable('api_keys')
        .set({ last_used_at: new Date(now) })
        .where('id', '=', apiKeyId)
        .execute()
    },

    add(key) {
      const now = new Date(clock())
      return kysely.transaction().execute(async (transaction) => {
        // Locks the user, so that keys made at the same time count each other.
        await transaction.selectFrom('users').select('id').where('id', '=', key.userId).forUpdate().execute()
        const { count } = await transaction
          .selectFrom('api_keys')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('user_id', '=', key.userId)
          .where('revoked_at', 'is', null)
          .where('expires_at', '>', now)
          .executeTakeFirstOrThrow()
        if (count >= maxApiKeysPerUser) {
          throw new AppError('CONFLICT', `You have ${maxApiKeysPerUser} API keys; revoke one first`)
        }
        const row = await transaction
          .insertInto('api_keys')
          .values({ ...toRow(key), created_at: now })
          .returningAll()
          .executeTakeFirstOrThrow()
        return toApiKey(row)
      })
    },

    async list(userId) {
      const rows = await kysely
        .selectFrom('api_keys')
        .selectAll()
        .where('user_id', '=', userId)
        .where('revoked_at', 'is', null)
        .orderBy('id', 'desc')
        .limit(maxListed)
        .execute()
      return rows.map(toApiKey)
    },

    async revoke(userId, apiKeyId) {
      const revoked = await kysely
        .updateTable('api_keys')
        .set({ revoked_at: new Date(clock()) })
        .where('id', '=', apiKeyId)
        .where('user_id', '=', userId)
        .where('revoked_at', 'is', null)
        .executeTakeFirst()
      if (revoked.numUpdatedRows === 0n) throw notFound('API key')
    },
  }
}

/** Live keys and as many that have ended. */
const maxListed = 2 * maxApiKeysPerUser

function toRow(key: NewApiKeyRow) {
  return {
    id: key.id,
    public_id: key.publicId,
    user_id: key.userId,
    name: key.name,
    key_hash: key.hash,
    scopes: [...key.scopes],
    workspace_ids: key.workspaceIds === null ? null : [...key.workspaceIds],
    expires_at: key.expiresAt,
  }
}

/** What is stored as a scope came through the contract. */
function toApiKey(row: Selectable<ApiKeyTable>): ApiKey {
  return {
    id: row.id,
    name: row.name,
    prefix: apiKeyPrefix(row.public_id),
    scopes: row.scopes as Scope[],
    workspaceIds: row.workspace_ids,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  }
}

function toStored(row: Selectable<ApiKeyTable> & { banned: boolean }, now: number): StoredApiKey {
  return {
    apiKeyId: row.id,
    userId: row.user_id,
    hash: row.key_hash,
    scopes: row.scopes as Scope[],
    workspaceIds: row.workspace_ids,
    expiresAt: row.expires_at.getTime(),
    lastUsedAt: row.last_used_at?.getTime() ?? null,
    state: stateOf(row, now),
  }
}

function stateOf(row: Selectable<ApiKeyTable> & { banned: boolean }, now: number): StoredApiKey['state'] {
  if (row.revoked_at) return 'revoked'
  if (row.expires_at.getTime() <= now) return 'expired'
  return row.banned ? 'banned' : 'live'
}
