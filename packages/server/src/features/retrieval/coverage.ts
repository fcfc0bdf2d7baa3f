import { postingsOf } from './index-segment.ts'
import type { AnalysedQuery } from './query-terms.ts'
import type { IndexView } from './workspace-index.ts'

/** Share of the question's words, weighed by their rarity, that a chunk or its path has: 0 to 1. */
export function coverageOf(view: IndexView, { terms, unknown }: AnalysedQuery, item: number): number {
  const place = view.segments.findLast(({ base }) => base <= item)
  if (place === undefined) return 0
  const chunk = item - place.base
  const slot = place.slots[chunk] ?? -1
  let asked = unknown
  let had = 0
  for (const { hash, idf, kind } of terms) {
    if (kind !== 'part') continue
    asked += idf
    const [from, to] = postingsOf(place.segment, hash)
    const inChunk = place.segment.postings.subarray(from, to).includes(chunk)
    if (inChunk || view.pathPostings.get(hash)?.includes(slot)) had += idf
  }
  return asked === 0 ? 0 : had / asked
}
