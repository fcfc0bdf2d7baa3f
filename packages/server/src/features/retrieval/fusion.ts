import type { SearchResult } from '@atelier/contract'
import type { Scored } from './ranked.ts'

/**
 * Constant of reciprocal rank fusion. The customary 60 makes rank 1 and rank 30 of a leg count nearly the same, so that weak
 * legs outvote a good one: on the tuning set 10 gives MRR@10 .561 where 60 gives .526 with the same weights.
 */
const rankOffset = 10

/** Where a leg put a result, and with what score of its own. */
export type ResultLeg = SearchResult['legs'][number]
export type LegName = ResultLeg['leg']
export type LegWeights = Readonly<Record<LegName, number>>

/**
 * `lexical` was chosen on the tuning set: such an embedder repeats what the words say. `semantic` adds what they do not say; its
 * weight is the usual equal share, not measured here.
 */
export const legWeights: Readonly<Record<'lexical' | 'semantic', LegWeights>> = {
  lexical: { lexical: 1, vector: 0.1, symbol: 0.1, path: 0.1 },
  semantic: { lexical: 1, vector: 1, symbol: 0.1, path: 0.1 },
}

export interface Fused {
  item: number
  score: number
  legs: ResultLeg[]
}

/** Weighted reciprocal rank fusion: score = Σ weight / (offset + rank). Best first. */
export function fuse(
  legs: Readonly<Partial<Record<LegName, readonly Scored<number>[]>>>,
  weights: LegWeights,
): Fused[] {
  const found = new Map<number, Fused>()
  for (const leg of ['lexical', 'vector', 'symbol', 'path'] as const) {
    for (const [index, { item, score }] of (legs[leg] ?? []).entries()) {
      const fused: Fused = found.get(item) ?? { item, score: 0, legs: [] }
      fused.score += weights[leg] / (rankOffset + index + 1)
      fused.legs.push({ leg, rank: index + 1, score })
      found.set(item, fused)
    }
  }
  return [...found.values()].sort((left, right) => right.score - left.score || left.item - right.item)
}
