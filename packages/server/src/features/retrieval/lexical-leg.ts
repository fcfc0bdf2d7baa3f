import { fieldCount } from './chunk-terms.ts'
import { postingsOf } from './index-segment.ts'
import type { AnalysedQuery, QueryTerm } from './query-terms.ts'
import { createTopRanked, type Scored } from './ranked.ts'
import type { IndexView, SegmentView } from './workspace-index.ts'

/**
 * BM25F with a saturation per field: body, symbol, header (in the order of `chunkFields`) and path. Chosen by coordinate
 * search on the tuning set of bench/retrieval-quality.ts.
 */
const weight = [1, 1.5, 0.75] as const
const symbolField = 1
const saturation = [2.5, 2.5, 1.2] as const
const lengthShare = [0.7, 0.75, 0.75] as const
const path = { weight: 1, saturation: 2.5, lengthShare: 0.9 }
/** Damps rarity and repetition in the question. */
const idfPower = 0.75
const countPower = 0.5
/** What a synonym counts of the word that was asked. */
const synonymShare = 0.4
/** How much a symbol that says what the question says raises its chunk. */
const symbolBoost = 0.75

/** The three legs that read the question's words. Items are chunk numbers of the index. */
export interface WordLegs {
  lexical: Scored<number>[]
  symbol: Scored<number>[]
  path: Scored<number>[]
}

export function wordLegs(view: IndexView, query: AnalysedQuery, depth: number): WordLegs {
  const pathScores = scorePaths(view, query)
  const lexical = createTopRanked<number>(depth)
  const symbol = createTopRanked<number>(depth)
  const byPath = createTopRanked<number>(depth)
  const symbolMatch = symbolMatcher(query)
  const factors = view.factors[query.intent]
  for (const segmentView of view.segments) {
    const { scores, named } = scoreWords(view, segmentView, query)
    const { segment, base, slots } = segmentView
    for (let chunk = 0; chunk < segment.size; chunk += 1) {
      const slot = slots[chunk] ?? -1
      const words = scores[chunk] ?? 0
      if (slot < 0) continue
      const pathScore = pathScores[slot] ?? 0
      if (words === 0 && pathScore === 0) continue
      const factor = factors[slot] ?? 0
      // Chunks of one file share its path, so the one that has the words too comes first.
      if (pathScore > 0) byPath.offer(base + chunk, (pathScore + words * 1e-3) * factor)
      if (words === 0) continue
      const match = named[chunk] === 1 ? symbolMatch(segment.symbols[chunk] ?? []) : 0
      if (match > 0) symbol.offer(base + chunk, match * factor)
      lexical.offer(base + chunk, (words + pathScore) * (1 + symbolBoost * match) * factor)
    }
  }
  return { lexical: lexical.list(), symbol: symbol.list(), path: byPath.list() }
}

function termWeight({ idf, count, kind }: QueryTerm): number {
  return idf ** idfPower * count ** countPower * (kind === 'synonym' ? synonymShare : 1)
}

/** Score of each chunk by its words (an inner loop whose indices are in bounds), and 1 for those that have one of the words in a symbol. */
function scoreWords(view: IndexView, { segment }: SegmentView, query: AnalysedQuery) {
  const scores = new Float32Array(segment.size)
  const named = new Uint8Array(segment.size)
  for (const term of query.terms) {
    const own = termWeight(term)
    const [from, to] = postingsOf(segment, term.hash)
    for (let at = from; at < to; at += 1) {
      const chunk = segment.postings[at] as number
      let sum = 0
      for (let field = 0; field < fieldCount; field += 1) {
        const count = segment.counts[at * fieldCount + field] as number
        if (count === 0) continue
        const share = lengthShare[field] as number
        const length =
          (segment.lengths[chunk * fieldCount + field] as number) / (view.meanLengths[field] as number)
        const normal = count / (1 - share + share * length)
        const limit = saturation[field] as number
        sum += ((weight[field] as number) * normal * (limit + 1)) / (normal + limit)
        if (field === symbolField) named[chunk] = 1
      }
      scores[chunk] = (scores[chunk] as number) + own * sum
    }
  }
  return { scores, named }
}

function scorePaths(view: IndexView, query: AnalysedQuery): Float32Array {
  const scores = new Float32Array(view.slots.length)
  for (const term of query.terms) {
    const own = termWeight(term) * path.weight
    for (const slot of view.pathPostings.get(term.hash) ?? []) {
      const length = (view.slots[slot]?.pathTerms[0]?.length ?? 1) / view.meanPathLength
      const normal = 1 / (1 - path.lengthShare + path.lengthShare * length)
      scores[slot] = (scores[slot] ?? 0) + (own * normal * (path.saturation + 1)) / (normal + path.saturation)
    }
  }
  return scores
}

/**
 * Likeness of a name and the question, 0 to 1: the F-measure, leaning to precision (β = ½), over the rarity of shared parts.
 * `calculateRetryDelay` is like "where is the retry delay calculated", `retry` is less so, and so is a longer name.
 */
function symbolMatcher({ terms }: AnalysedQuery): (symbols: readonly Uint32Array[]) => number {
  const asked = terms.filter(({ kind }) => kind === 'part')
  const total = asked.reduce((sum, { idf }) => sum + idf, 0)
  const mean = asked.length === 0 ? 0 : total / asked.length
  const parts = new Map<number, number>()
  for (const { hash, idf, kind } of terms) {
    if (kind !== 'whole') parts.set(hash, kind === 'synonym' ? idf * synonymShare : idf)
  }
  return (symbols) => {
    let best = 0
    for (const symbol of symbols) {
      let shared = 0
      let own = 0
      for (const part of symbol) {
        const idf = parts.get(part)
        // What the question does not have weighs as much as an average word of it.
        own += idf ?? mean
        shared += idf ?? 0
      }
      if (shared === 0) continue
      const precision = shared / own
      const recall = Math.min(1, total === 0 ? 0 : shared / total)
      best = Math.max(best, (1.25 * precision * recall) / (0.25 * precision + recall))
    }
    return best
  }
}
