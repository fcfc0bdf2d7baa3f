import type { ApiKey, Body, createApiKey } from '@atelier/contract'
import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/ids.ts'
import { generateApiKey } from '../../platform/identity/api-key-format.ts'
import type { PrincipalCache } from '../../platform/identity/principal-cache.ts'
import type { OnSecurityEvent } from '../../platform/identity/security-event.ts'
import type { ApiKeyStore } from './api-key-store.ts'

/** The API keys of a user, as their owner manages them. */
export interface ApiKeys {
  /** `key` is the key itself, which exists in this answer only. Throws CONFLICT at the limit of keys. */
  create(userId: string, wanted: Body<typeof createApiKey>): Promise<{ key: string; apiKey: ApiKey }>
  list(userId: string): Promise<ApiKey[]>
  /** At once. Throws NOT_FOUND for a key that is not the user's. */
  revoke(userId: string, apiKeyId: string): Promise<void>
}

const dayMilliseconds = 24 * 60 * 60 * 1000

export function createApiKeys(options: {
  store: ApiKeyStore
  cache: PrincipalCache
  clock: Clock
  onSecurityEvent: OnSecurityEvent
}): ApiKeys {
  const { store, cache, clock, onSecurityEvent } = options
  return {
    async create(userId, { name, scopes, workspaceIds, expiresInDays }) {
      const { text, publicId, hash } = generateApiKey()
      const apiKey = await store.add({
        id: newId('apiKey'),
        publicId,
        hash,
        userId,
        name,
        scopes: [...new Set(scopes)],
        workspaceIds: workspaceIds === null ? null : [...new Set(workspaceIds)],
        expiresAt: new Date(clock() + expiresInDays * dayMilliseconds),
      })
      onSecurityEvent({ type: 'api-key-created', userId, apiKeyId: apiKey.id, scopes: apiKey.scopes })
      return { key: text, apiKey }
    },

    list: (userId) => store.list(userId),

    async revoke(userId, apiKeyId) {
      await store.revoke(userId, apiKeyId)
      cache.forgetAll()
      onSecurityEvent({ type: 'api-key-revoked', userId, apiKeyId })
    },
  }
}
