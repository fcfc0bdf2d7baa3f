import { type Fused, fuse, legWeights } from './fusion.ts'
import { wordLegs } from './lexical-leg.ts'
import { type AnalysedQuery, analyseQuery } from './query-terms.ts'
import type { Thesaurus } from './thesaurus.ts'
import { type VectorLeg, vectorLeg } from './vector-leg.ts'
import type { IndexView } from './workspace-index.ts'

/** Results of each leg that take part in the fusion. */
const legDepth = 100
/** Share of the chunks that must have a vector; below it the leg would favour those that do. */
const minVectorShare = 0.9

export interface Question {
  query: string
  /** null: it could not be embedded */
  vector: Float32Array | null
  /** of the embedder: similar vectors mean shared words */
  lexical: boolean
}

export interface RankedIndex {
  /** chunk numbers of the index, best first */
  fused: Fused[]
  /** null: vectors took no part */
  vectors: VectorLeg | null
  analysed: AnalysedQuery
}

/** Computes the four legs on an index in memory and fuses them: milliseconds of work without any waiting. */
export function rankIndex(
  view: IndexView,
  question: Question,
  options: { exact: boolean; thesaurus: Thesaurus },
): RankedIndex {
  const { query, vector, lexical } = question
  const analysed = analyseQuery(query, view, options.thesaurus)
  const words = wordLegs(view, analysed, legDepth)
  const comparable = vector !== null && view.vectors > 0 && view.vectors >= view.liveChunks * minVectorShare
  const vectors = comparable
    ? vectorLeg(view, { vector, analysed }, { depth: legDepth, exact: options.exact })
    : null
  const weights = legWeights[lexical ? 'lexical' : 'semantic']
  return { fused: fuse({ ...words, vector: vectors?.ranked ?? [] }, weights), vectors, analysed }
}
