import { type IdKind, idPrefixes } from '@atelier/contract'
import { monotonicFactory } from 'ulid'

const nextUlid = monotonicFactory(createRandom())

/** A new prefixed ULID, increasing within this process. */
export function newId(kind: IdKind): string {
  return `${idPrefixes[kind]}_${nextUlid()}`
}

/**
 * Cryptographic random numbers from 0 to 1, drawn a thousand at a time: an id takes sixteen, and a call of the system
 * for each was 3 % of a chat request.
 */
function createRandom(): () => number {
  const pool = new Uint32Array(1024)
  let next = pool.length
  return () => {
    if (next === pool.length) {
      crypto.getRandomValues(pool)
      next = 0
    }
    const value = pool[next] ?? 0
    next += 1
    return value / 2 ** 32
  }
}
