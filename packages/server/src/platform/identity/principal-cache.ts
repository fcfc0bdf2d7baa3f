import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../base/clock.ts'
import type { Credential } from './credentials.ts'
import type { Principal } from './principal.ts'

/**
 * How long a credential that was good counts as good without a look, in milliseconds. What this process revokes ends
 * at once; what another process revokes ends here after this time. Half of the ten seconds that we promise.
 */
export const principalAgeMilliseconds = 5_000

/** Credentials remembered at most: about 500 bytes each. */
const maxPrincipals = 10_000

/** A principal and when its credential ends by itself, in milliseconds since the epoch. */
export interface Identified {
  principal: Principal
  expiresAt: number
}

export interface PrincipalCache {
  /** Who a credential stands for: remembered, else found out by `identify`, whose failure is not remembered. */
  resolve(credential: Credential, identify: () => Promise<Identified>): Promise<Principal>
  /** To call after something was revoked and that is committed. Look-ups still under way will not be remembered. */
  forgetAll(): void
}

/** Keyed by SHA-256, so that no credential stays in memory in the clear. */
export function createPrincipalCache(options: { clock: Clock }): PrincipalCache {
  const { clock } = options
  const entries = new LRUCache<string, { principal: Principal; until: number }>({ max: maxPrincipals })
  let underWay = new Map<string, Promise<Principal>>()

  async function lookUp(key: string, identify: () => Promise<Identified>): Promise<Principal> {
    const startedAmong = underWay
    try {
      const { principal, expiresAt } = await identify()
      if (startedAmong === underWay) {
        entries.set(key, { principal, until: Math.min(clock() + principalAgeMilliseconds, expiresAt) })
      }
      return principal
    } finally {
      startedAmong.delete(key)
    }
  }

  return {
    async resolve(credential, identify) {
      const key = createHash('sha256').update(`${credential.kind} ${credential.text}`).digest('base64')
      const known = entries.get(key)
      if (known && clock() < known.until) return known.principal
      // Requests that come together share one look-up, but none that began before the last revocation.
      const look = underWay.get(key) ?? lookUp(key, identify)
      underWay.set(key, look)
      return look
    },
    forgetAll() {
      underWay = new Map()
      entries.clear()
    },
  }
}
