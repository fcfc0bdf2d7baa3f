import { hashedVector } from '../../packages/server/src/features/retrieval/hashed-embedder.ts'
import { wordLegs } from '../../packages/server/src/features/retrieval/lexical-leg.ts'
import { analyseQuery } from '../../packages/server/src/features/retrieval/query-terms.ts'
import { rankIndex } from '../../packages/server/src/features/retrieval/rank-index.ts'
import type { Thesaurus } from '../../packages/server/src/features/retrieval/thesaurus.ts'
import { vectorLeg } from '../../packages/server/src/features/retrieval/vector-leg.ts'
import type { Ranker } from './baselines.ts'
import type { Corpus } from './corpus.ts'

const depth = 100

/** The server's own legs and their fusion, over a corpus. */
export function ownRankers(
  corpus: Corpus,
  thesaurus: Thesaurus,
): { vector: Ranker; lexical: Ranker; fused: Ranker } {
  const { view, chunkOf } = corpus
  return {
    vector: (question) => {
      const analysed = analyseQuery(question, view, thesaurus)
      const leg = vectorLeg(view, { vector: hashedVector(question), analysed }, { depth, exact: true })
      return leg.ranked.map(({ item }) => chunkOf(item))
    },
    lexical: (question) =>
      wordLegs(view, analyseQuery(question, view, thesaurus), depth).lexical.map(({ item }) => chunkOf(item)),
    fused: (question) => {
      const asked = { query: question, vector: hashedVector(question), lexical: true }
      return rankIndex(view, asked, { exact: true, thesaurus }).fused.map(({ item }) => chunkOf(item))
    },
  }
}
