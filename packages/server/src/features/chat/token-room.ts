import type { TokenCounter } from './token-counter.ts'

/** Tokens that a message costs beside its text, in every vendor's format. */
export const tokensPerMessage = 8

/** Tokens that are still free. */
export interface Room {
  readonly capacity: number
  cost(texts: readonly string[]): Promise<number>
  /** Takes room for all texts, or for none. */
  take(texts: readonly string[]): Promise<boolean>
  /** A room of a part of what is left, for a trial: it takes nothing from this one. */
  part(share: number): Room
  /** Takes a part of what is left, and gives its tokens. */
  keep(share: number): number
}

export function createRoom(capacity: number, tokens: TokenCounter): Room {
  let free = capacity
  async function cost(texts: readonly string[]): Promise<number> {
    let sum = 0
    for (const text of texts) sum += tokensPerMessage + (await tokens.count(text))
    return sum
  }
  return {
    capacity,
    cost,
    async take(texts) {
      const needed = await cost(texts)
      if (needed > free) return false
      free -= needed
      return true
    },
    part: (share) => createRoom(Math.max(0, Math.floor(free * share)), tokens),
    keep(share) {
      const kept = Math.floor(free * share)
      free -= kept
      return kept
    },
  }
}
