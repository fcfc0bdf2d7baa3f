import type { RateClass } from '@atelier/contract'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../base/clock.ts'

/** Length of the sliding window, in milliseconds: limits are requests a minute (specification, section 8). */
export const windowMilliseconds = 60_000

/** Most callers remembered at once: 100,000 x 100 times of 8 bytes bound the memory to 80 MB in the worst case. */
const maxCallers = 100_000

export interface RateDecision {
  allowed: boolean
  rateClass: RateClass
  limit: number
  remaining: number
  /** seconds until the oldest counted request leaves the window, at least 1 where one is counted */
  resetSeconds: number
}

export interface RateLimiter {
  /** Counts one request of `caller`, unless its class is exhausted. A refused request is not counted. */
  consume(rateClass: RateClass, caller: string): RateDecision
}

/**
 * Exact sliding window: the times of the last `limit` requests of each caller, in a ring.
 * A fixed window would let twice the limit pass around its edge.
 */
export function createRateLimiter(options: {
  limits: Readonly<Record<RateClass, number>>
  clock: Clock
}): RateLimiter {
  const rings = new LRUCache<string, Ring>({ max: maxCallers })
  return {
    consume(rateClass, caller) {
      const limit = options.limits[rateClass]
      const key = `${rateClass} ${caller}`
      let ring = rings.get(key)
      if (!ring) {
        ring = createRing(limit)
        rings.set(key, ring)
      }
      const now = options.clock()
      const allowed = ring.push(now)
      const oldest = ring.oldest(now)
      return {
        allowed,
        rateClass,
        limit,
        remaining: limit - ring.size(),
        resetSeconds:
          oldest === undefined ? 0 : Math.max(1, Math.ceil((oldest + windowMilliseconds - now) / 1000)),
      }
    },
  }
}

interface Ring {
  push(now: number): boolean
  oldest(now: number): number | undefined
  size(): number
}

/** Starts small and grows to `limit`, as most callers make few requests. */
function createRing(limit: number): Ring {
  let times = new Float64Array(Math.min(limit, 8))
  let start = 0
  let count = 0

  function dropExpired(now: number): void {
    while (count > 0 && (times[start] ?? 0) <= now - windowMilliseconds) {
      start = (start + 1) % times.length
      count -= 1
    }
  }

  function grow(): void {
    const larger = new Float64Array(Math.min(limit, times.length * 2))
    for (let index = 0; index < count; index += 1) larger[index] = times[(start + index) % times.length] ?? 0
    times = larger
    start = 0
  }

  return {
    push(now) {
      dropExpired(now)
      if (count >= limit) return false
      if (count === times.length) grow()
      times[(start + count) % times.length] = now
      count += 1
      return true
    },
    oldest(now) {
      dropExpired(now)
      return count === 0 ? undefined : times[start]
    },
    size: () => count,
  }
}
