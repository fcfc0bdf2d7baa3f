import { fieldCount, partHashes } from './chunk-terms.ts'
import {
  buildSegment,
  type IndexSegment,
  type ResidentChunk,
  segmentBytes,
  setVector,
} from './index-segment.ts'
import { mergeSegments } from './merge-segments.ts'
import { compiledPaths, type Intent, kindFactor, type SourceKind, sourceKind } from './source-kind.ts'

/** A path of a content. */
export interface ResidentDocument {
  id: string
  path: string
  language: string | null
  contentId: number
  contentSha256: string
}

/** A content with its paths. */
export interface Slot {
  contentId: number
  documents: (ResidentDocument & { kind: SourceKind })[]
  /** terms of the paths, one array a document */
  pathTerms: Uint32Array[]
}

/** For each slot, the factor of its best kind of file. */
export type SlotFactors = Readonly<Record<Intent, Float32Array>>

/** A segment with what changes about it. Its chunks have the numbers `base` to `base + size` in the index. */
export interface SegmentView {
  segment: IndexSegment
  base: number
  /** slot of each chunk; -1: its content has no path any more */
  slots: Int32Array
}

/** What a search reads; replaced, never changed, except that vectors may be filled in. */
export interface IndexView {
  segments: readonly SegmentView[]
  slots: readonly Slot[]
  factors: SlotFactors
  /** term -> slots that have it in a path */
  pathPostings: ReadonlyMap<number, readonly number[]>
  /** chunks that have a path */
  liveChunks: number
  /** highest number of a chunk, plus one */
  capacity: number
  vectors: number
  /** mean length by field */
  meanLengths: readonly number[]
  meanPathLength: number
}

/** The search index of one workspace in memory, for one space of vectors. */
export interface WorkspaceIndex {
  /** Replaces the list of documents; answers the contents whose chunks are missing. */
  setDocuments(documents: readonly ResidentDocument[]): number[]
  /** Adds all chunks of the contents they belong to. */
  addChunks(chunks: readonly ResidentChunk[]): void
  setVectors(vectors: readonly { chunkId: number; vector: Float32Array }[]): void
  /** Makes what was added visible to searches. */
  publish(): void
  view(): IndexView
  bytes(): number
}

/**
 * Segments beyond which the smaller ones are merged into one. A search visits each for each term, which costs little next to
 * the postings; a merge holds up everything else for some 4 µs a chunk.
 */
const maxSegments = 64
const segmentsAfterMerge = 32
/** Share of chunks without a path beyond which a segment is rewritten. */
const maxDeadShare = 0.3

export function createWorkspaceIndex({ dimensions }: { dimensions: number }): WorkspaceIndex {
  let segments: IndexSegment[] = []
  let slots: Slot[] = []
  let slotOf = new Map<number, number>()
  const loaded = new Set<number>()
  let view = describe([], [], slotOf)

  const isLive = (segment: IndexSegment, chunk: number) => slotOf.has(segment.contentIds[chunk] ?? -1)
  const compact = () => {
    const wasteful = segments.filter((segment) => deadShare(segment) > maxDeadShare)
    const small = segments.length > maxSegments ? smallest(segments) : []
    const chosen = segments.filter((segment) => wasteful.includes(segment) || small.includes(segment))
    if (chosen.length === 0) return
    segments = segments.filter((segment) => !chosen.includes(segment))
    segments.push(mergeSegments(chosen, isLive, dimensions))
    forgetUnloaded()
  }
  const deadShare = (segment: IndexSegment) => {
    let dead = 0
    for (let chunk = 0; chunk < segment.size; chunk += 1) if (!isLive(segment, chunk)) dead += 1
    return segment.size === 0 ? 1 : dead / segment.size
  }
  /** A content that was merged away has to be loaded again when a path of it comes back. */
  const forgetUnloaded = () => {
    loaded.clear()
    for (const segment of segments) for (const contentId of segment.contentIds) loaded.add(contentId)
  }

  return {
    setDocuments(documents) {
      ;({ slots, slotOf } = groupByContent(documents))
      return slots.map((slot) => slot.contentId).filter((contentId) => !loaded.has(contentId))
    },
    addChunks(chunks) {
      if (chunks.length === 0) return
      for (const { contentId } of chunks) loaded.add(contentId)
      segments.push(buildSegment(chunks, dimensions))
    },
    setVectors(vectors) {
      const wanted = new Map(vectors.map(({ chunkId, vector }) => [chunkId, vector]))
      if (wanted.size === 0) return
      for (const segment of segments) {
        for (const [chunk, chunkId] of segment.chunkIds.entries()) {
          const vector = wanted.get(chunkId)
          if (vector !== undefined) setVector(segment, chunk, vector)
        }
      }
    },
    publish() {
      compact()
      view = describe(segments, slots, slotOf)
    },
    view: () => view,
    bytes: () => segments.reduce((sum, segment) => sum + segmentBytes(segment), slots.length * 400),
  }
}

function smallest(segments: readonly IndexSegment[]): IndexSegment[] {
  const bySize = segments.toSorted((left, right) => left.size - right.size)
  return bySize.slice(0, segments.length - segmentsAfterMerge + 1)
}

function groupByContent(documents: readonly ResidentDocument[]): {
  slots: Slot[]
  slotOf: Map<number, number>
} {
  const slots: Slot[] = []
  const slotOf = new Map<number, number>()
  const compiled = compiledPaths(documents.map(({ path }) => path))
  for (const document of documents) {
    const known = slotOf.get(document.contentId)
    const slot = slots[known ?? -1] ?? { contentId: document.contentId, documents: [], pathTerms: [] }
    const kind = compiled.has(document.path) ? 'built' : sourceKind(document.path, document.language)
    slot.documents.push({ ...document, kind })
    slot.pathTerms.push(partHashes(document.path))
    if (known !== undefined) continue
    slotOf.set(document.contentId, slots.length)
    slots.push(slot)
  }
  return { slots, slotOf }
}

function describe(
  segments: readonly IndexSegment[],
  slots: readonly Slot[],
  slotOf: ReadonlyMap<number, number>,
): IndexView {
  const sums = new Array<number>(fieldCount).fill(0)
  let liveChunks = 0
  let vectors = 0
  let base = 0
  const views = segments.map((segment) => {
    const own = new Int32Array(segment.size)
    for (let chunk = 0; chunk < segment.size; chunk += 1) {
      const slot = slotOf.get(segment.contentIds[chunk] ?? -1) ?? -1
      own[chunk] = slot
      if (slot < 0) continue
      liveChunks += 1
      if ((segment.vectors.scales[chunk] ?? 0) > 0) vectors += 1
      for (let field = 0; field < fieldCount; field += 1) {
        sums[field] = (sums[field] ?? 0) + (segment.lengths[chunk * fieldCount + field] ?? 0)
      }
    }
    const segmentView = { segment, base, slots: own }
    base += segment.size
    return segmentView
  })
  const pathLengths = slots.reduce((sum, slot) => sum + (slot.pathTerms[0]?.length ?? 0), 0)
  return {
    segments: views,
    slots,
    factors: {
      code: factorsFor(slots, 'code'),
      prose: factorsFor(slots, 'prose'),
      test: factorsFor(slots, 'test'),
    },
    pathPostings: postingsOfPaths(slots),
    liveChunks,
    capacity: base,
    vectors,
    meanLengths: sums.map((sum) => (liveChunks === 0 ? 1 : Math.max(sum / liveChunks, 1e-9))),
    meanPathLength: slots.length === 0 ? 1 : Math.max(pathLengths / slots.length, 1),
  }
}

function factorsFor(slots: readonly Slot[], intent: Intent): Float32Array {
  return Float32Array.from(slots, ({ documents }) =>
    Math.max(...documents.map(({ kind }) => kindFactor(intent, kind))),
  )
}

function postingsOfPaths(slots: readonly Slot[]): Map<number, number[]> {
  const postings = new Map<number, number[]>()
  for (const [index, slot] of slots.entries()) {
    for (const term of new Set(slot.pathTerms.flatMap((terms) => [...terms]))) {
      const own = postings.get(term)
      if (own === undefined) postings.set(term, [index])
      else own.push(index)
    }
  }
  return postings
}
