import { AppError } from '../../base/app-error.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { Embedder } from '../../platform/models/embedder.ts'
import { coverageOf } from './coverage.ts'
import type { EmbedFor } from './embed-for.ts'
import type { Fused, ResultLeg } from './fusion.ts'
import { type RankedIndex, rankIndex } from './rank-index.ts'
import type { RelevanceEvidence } from './relevance.ts'
import type { ResidentIndexes } from './resident-indexes.ts'
import type { PassageRow, ResidentStore, SearchReader } from './resident-store.ts'
import type { RetrievalLogger } from './retrieval-logger.ts'
import { type Intent, kindFactor } from './source-kind.ts'
import { createThesaurus, type Thesaurus } from './thesaurus.ts'
import type { IndexView, Slot } from './workspace-index.ts'

/** A provider that takes longer to embed a question is done without, in milliseconds. */
const embedBudgetMilliseconds = 5_000
/** Attempts to meet an index that is being written to all the time; then what is in memory has to do. */
const maxRefreshes = 3

export interface RankedPassage extends PassageRow {
  score: number
  legs: ResultLeg[]
}

export interface Ranking {
  passages: RankedPassage[]
  evidence: RelevanceEvidence
}

export interface RankOptions {
  query: string
  limit: number
  /** least cosine similarity of a result */
  threshold: number | null
  signal: AbortSignal
}

/**
 * Ranks the passages of a workspace for a question: the question is embedded, four legs are computed on the index in memory,
 * fused, and what they found is read from the database within the transaction that told the index's version.
 */
export function createRanker(dependencies: {
  store: ResidentStore
  indexes: ResidentIndexes
  embedder: Embedder
  embed: EmbedFor
  logger: RetrievalLogger
}) {
  const { store, indexes, embedder } = dependencies
  const thesaurus = createThesaurus()

  return async (scope: WorkspaceScope, options: RankOptions): Promise<Ranking> => {
    const vector = await embedQuestion(dependencies, scope, options)
    for (let attempt = 0; ; attempt += 1) {
      options.signal.throwIfAborted()
      const outcome = await store.search(scope, async (reader) => {
        const version = await reader.version()
        const view = indexes.current(scope, attempt < maxRefreshes ? version : 0)
        return view === null
          ? version
          : await rank(reader, view, {
              ...options,
              vector,
              embedder: embedder.id,
              lexical: embedder.lexical,
              thesaurus,
            })
      })
      if (typeof outcome !== 'number') return outcome
      if (attempt >= maxRefreshes) throw new AppError('SERVICE_UNAVAILABLE', 'The search index is not ready')
      await indexes.refresh(scope, outcome)
    }
  }
}

async function embedQuestion(
  dependencies: { embed: EmbedFor; logger: RetrievalLogger },
  scope: WorkspaceScope,
  { query, signal }: RankOptions,
): Promise<Float32Array | null> {
  const timeout = AbortSignal.timeout(embedBudgetMilliseconds)
  try {
    const [vector] = await dependencies.embed(scope, [query], 'query', AbortSignal.any([signal, timeout]))
    // A question of stop words alone has no direction.
    return vector?.some((component) => component !== 0) ? vector : null
  } catch (error) {
    signal.throwIfAborted()
    dependencies.logger.warn(
      { err: error, workspaceId: scope.workspaceId },
      'a question could not be embedded',
    )
    return null
  }
}

interface RankInput extends RankOptions {
  vector: Float32Array | null
  embedder: string
  lexical: boolean
  thesaurus: Thesaurus
}

async function rank(reader: SearchReader, view: IndexView, input: RankInput): Promise<Ranking> {
  let ranked = rankIndex(view, input, { ...input, exact: false })
  let passages = await readBest(reader, view, { ...input, ranked })
  if (passages.length < input.limit && ranked.vectors?.exact === false) {
    // What the bits left out may be what is missing.
    ranked = rankIndex(view, input, { ...input, exact: true })
    passages = await readBest(reader, view, { ...input, ranked })
  }
  const similarities = passages.slice(0, 3).flatMap(({ similarity }) => similarity ?? [])
  return {
    passages,
    evidence: {
      embedder: input.embedder,
      similarity: similarities.length === 0 ? null : Math.max(...similarities),
      background: ranked.vectors?.background ?? null,
      coverage: ranked.fused[0] === undefined ? 0 : coverageOf(view, ranked.analysed, ranked.fused[0].item),
    },
  }
}

/** Reads candidates from the best on until there are enough: some may be gone, repeated, or below the threshold. */
async function readBest(
  reader: SearchReader,
  view: IndexView,
  input: RankInput & { ranked: RankedIndex },
): Promise<RankedPassage[]> {
  const { ranked, limit, threshold } = input
  const { fused } = ranked
  // Similarity is told only where vectors took part.
  const vector = ranked.vectors === null ? null : input.vector
  const found: RankedPassage[] = []
  const contents = new Set<string>()
  for (let from = 0; from < fused.length && found.length < limit; from += limit * 2) {
    const page = placesOf(view, fused.slice(from, from + limit * 2), ranked.analysed.intent)
    const rows = await reader.passages(page, vector)
    const places = new Map(page.map((place) => [place.chunkId, place]))
    for (const row of rows) {
      const fusedAs = places.get(row.chunkId)?.fused
      if (fusedAs === undefined || found.length >= limit) continue
      if (threshold !== null && (row.similarity ?? -1) < threshold) continue
      const content = row.content.trim()
      if (contents.has(content)) continue
      contents.add(content)
      found.push({ ...row, score: fusedAs.score, legs: fusedAs.legs })
    }
  }
  return found
}

function placesOf(view: IndexView, fused: readonly Fused[], intent: Intent) {
  return fused.flatMap((candidate) => {
    const segmentView = view.segments.findLast(({ base }) => base <= candidate.item)
    if (segmentView === undefined) return []
    const chunk = candidate.item - segmentView.base
    const documentId = bestDocument(view.slots[segmentView.slots[chunk] ?? -1], intent)
    const chunkId = segmentView.segment.chunkIds[chunk]
    return documentId === undefined || chunkId === undefined
      ? []
      : [{ chunkId, documentId, fused: candidate }]
  })
}

/** Of the paths that a content has, the one whose kind fits the question; the shortest among equals. */
function bestDocument(slot: Slot | undefined, intent: Intent): string | undefined {
  return slot?.documents.toSorted(
    (left, right) =>
      kindFactor(intent, right.kind) - kindFactor(intent, left.kind) || left.path.length - right.path.length,
  )[0]?.id
}
