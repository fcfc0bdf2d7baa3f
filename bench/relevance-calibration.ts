import { coverageOf } from '../packages/server/src/features/retrieval/coverage.ts'
import { embeddingText } from '../packages/server/src/features/retrieval/embedding-text.ts'
import { createGrammars } from '../packages/server/src/features/retrieval/grammars.ts'
import { hashedEmbedderId, hashedVector } from '../packages/server/src/features/retrieval/hashed-embedder.ts'
import { rankIndex } from '../packages/server/src/features/retrieval/rank-index.ts'
import { type RelevanceEvidence, relevanceOf } from '../packages/server/src/features/retrieval/relevance.ts'
import { createThesaurus } from '../packages/server/src/features/retrieval/thesaurus.ts'
import { percentile, round, writeResults } from './harness.ts'
import { buildCorpus, type Corpus } from './retrieval/corpus.ts'
import { docstringSet, type QuestionSet } from './retrieval/question-sets.ts'

/**
 * What `relevanceScore` says of questions that a workspace can answer, of questions about another code base, and of small talk,
 * by the thresholds in relevance.ts. Those of `local/hashed` were read off the tuning packages: `medium` lets 96 % of the
 * answerable questions through and turns two thirds of small talk away; 3 % of foreign questions reach `high`.
 */
const grammars = createGrammars()
const thesaurus = createThesaurus()
const perWorkspace = 150

const smallTalk = [
  'what is the weather in Paris tomorrow?',
  'how do I bake sourdough bread?',
  'hello',
  'thanks!',
  'who won the world cup?',
  'explain quantum entanglement',
  'translate this poem into French',
  'what time is it?',
  'best hiking shoes',
  'how tall is Mount Everest?',
  'tell me a joke',
  'write a cover letter for a nurse',
  'recommend a movie',
  'why is the sky blue?',
]

writeResults('relevance-calibration', {
  embedder: hashedEmbedderId,
  tuning: await measure(['ai', 'mongodb', '@better-auth/core', 'bson']),
  heldOut: await measure(['zod', 'undici', '@xterm/xterm', '@grpc/grpc-js']),
})

async function measure(packages: readonly string[]) {
  const workspaces: { set: QuestionSet; corpus: Corpus }[] = []
  for (const name of packages) {
    const set = await docstringSet([name], grammars, perWorkspace)
    workspaces.push({ set, corpus: await buildCorpus(set.files, grammars) })
  }
  const ask = (corpus: Corpus, questions: readonly string[]) =>
    questions.map((question) => evidenceOf(corpus, question))
  const own = (set: QuestionSet) => set.questions.map(({ question }) => question)
  return {
    answerable: describe(workspaces.flatMap(({ set, corpus }) => ask(corpus, own(set)))),
    foreign: describe(
      workspaces.flatMap(({ corpus }, at) =>
        ask(
          corpus,
          own(workspaces[(at + 1) % workspaces.length]?.set ?? { name: '', files: [], questions: [] }),
        ),
      ),
    ),
    smallTalk: describe(workspaces.flatMap(({ corpus }) => ask(corpus, smallTalk))),
  }
}

/** What search.ts gathers, without a database. */
function evidenceOf(corpus: Corpus, question: string): RelevanceEvidence {
  const vector = hashedVector(question)
  const asked = { query: question, vector, lexical: true }
  const { fused, vectors, analysed } = rankIndex(corpus.view, asked, { exact: true, thesaurus })
  const similarities = fused.slice(0, 3).flatMap(({ item }) => {
    const chunk = corpus.chunks[corpus.chunkOf(item)]
    return chunk === undefined ? [] : [cosine(vector, hashedVector(embeddingText(chunk)))]
  })
  return {
    embedder: hashedEmbedderId,
    similarity: similarities.length === 0 ? null : Math.max(...similarities),
    background: vectors?.background ?? null,
    coverage: fused[0] === undefined ? 0 : coverageOf(corpus.view, analysed, fused[0].item),
  }
}

function describe(found: readonly RelevanceEvidence[]) {
  const share = (score: 'high' | 'medium' | null) =>
    round(found.filter((evidence) => relevanceOf(evidence) === score).length / found.length)
  const similarities = found.map(({ similarity }) => similarity ?? 0)
  const at = Object.fromEntries(
    [0.05, 0.25, 0.5, 0.75, 0.95].map((part) => [`p${part * 100}`, round(percentile(similarities, part))]),
  )
  return {
    questions: found.length,
    high: share('high'),
    medium: share('medium'),
    none: share(null),
    similarity: at,
  }
}

function cosine(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0)
}
