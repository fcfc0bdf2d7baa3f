import { type ChunkTerms, fieldCount } from './chunk-terms.ts'

/** A chunk on its way into memory. */
export interface ResidentChunk {
  chunkId: number
  contentId: number
  terms: ChunkTerms
  /** unit length; null while it is not embedded */
  vector: Float32Array | null
}

/**
 * An immutable run of chunks with its postings, as in Lucene: adding a file makes a small segment, small segments are merged.
 * Chunks are numbered from 0 within the segment. Vectors may be filled in later.
 */
export interface IndexSegment {
  readonly size: number
  readonly chunkIds: Float64Array
  readonly contentIds: Float64Array
  /** distinct terms, ascending; the postings of term `i` are `starts[i]` to `starts[i + 1]` */
  readonly terms: Uint32Array
  readonly starts: Uint32Array
  readonly postings: Uint32Array
  /** `fieldCount` counts a posting */
  readonly counts: Uint8Array
  /** `fieldCount` lengths a chunk */
  readonly lengths: Uint16Array
  readonly symbols: readonly (readonly Uint32Array[])[]
  readonly vectors: SegmentVectors
}

/** Vectors as bytes: component = code × scale; a scale of 0 means that the chunk has none. */
export interface SegmentVectors {
  readonly dimensions: number
  readonly codes: Int8Array
  readonly scales: Float32Array
  /** sign bits of the codes, a bit a component; made when first needed, dropped when a vector changes */
  signs: Uint8Array | null
}

export function buildSegment(chunks: readonly ResidentChunk[], dimensions: number): IndexSegment {
  const frequency = new Map<number, number>()
  for (const { terms } of chunks) {
    for (const hash of terms.hashes) frequency.set(hash, (frequency.get(hash) ?? 0) + 1)
  }
  const terms = Uint32Array.from(frequency.keys()).sort()
  const starts = new Uint32Array(terms.length + 1)
  const next = new Map<number, number>()
  for (const [index, hash] of terms.entries()) {
    const start = starts[index] ?? 0
    next.set(hash, start)
    starts[index + 1] = start + (frequency.get(hash) ?? 0)
  }
  const total = starts[terms.length] ?? 0
  const postings = new Uint32Array(total)
  const counts = new Uint8Array(total * fieldCount)
  for (const [chunk, { terms: own }] of chunks.entries()) {
    for (const [index, hash] of own.hashes.entries()) {
      const at = next.get(hash) ?? 0
      postings[at] = chunk
      counts.set(own.counts.subarray(index * fieldCount, (index + 1) * fieldCount), at * fieldCount)
      next.set(hash, at + 1)
    }
  }
  const segment: IndexSegment = {
    size: chunks.length,
    chunkIds: Float64Array.from(chunks, ({ chunkId }) => chunkId),
    contentIds: Float64Array.from(chunks, ({ contentId }) => contentId),
    terms,
    starts,
    postings,
    counts,
    lengths: Uint16Array.from(chunks.flatMap((chunk) => chunk.terms.lengths)),
    symbols: chunks.map((chunk) => chunk.terms.symbols),
    vectors: emptyVectors(chunks.length, dimensions),
  }
  for (const [chunk, { vector }] of chunks.entries()) if (vector !== null) setVector(segment, chunk, vector)
  return segment
}

export function emptyVectors(size: number, dimensions: number): SegmentVectors {
  return { dimensions, codes: new Int8Array(size * dimensions), scales: new Float32Array(size), signs: null }
}

const largestCode = 127

export function setVector({ vectors }: IndexSegment, chunk: number, vector: Float32Array): void {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  if (largest === 0) return
  const { dimensions, codes, scales } = vectors
  const factor = largestCode / largest
  for (let at = 0; at < dimensions; at += 1)
    codes[chunk * dimensions + at] = Math.round((vector[at] ?? 0) * factor)
  scales[chunk] = largest / largestCode
  vectors.signs = null
}

export function signsOf({ size, vectors }: IndexSegment): Uint8Array {
  if (vectors.signs !== null) return vectors.signs
  const { dimensions, codes } = vectors
  const stride = Math.ceil(dimensions / 8)
  const signs = new Uint8Array(size * stride)
  for (let chunk = 0; chunk < size; chunk += 1) {
    for (let at = 0; at < dimensions; at += 1) {
      if ((codes[chunk * dimensions + at] ?? 0) < 0) continue
      const byte = chunk * stride + (at >> 3)
      signs[byte] = (signs[byte] ?? 0) | (1 << (at & 7))
    }
  }
  vectors.signs = signs
  return signs
}

/** Postings of a term: from, to; equal when there are none. */
export function postingsOf({ terms, starts }: IndexSegment, hash: number): [from: number, to: number] {
  let low = 0
  let high = terms.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((terms[middle] ?? 0) < hash) low = middle + 1
    else high = middle
  }
  return terms[low] === hash ? [starts[low] ?? 0, starts[low + 1] ?? 0] : [0, 0]
}

/** Bytes a segment holds, near enough for a budget. */
export function segmentBytes(segment: IndexSegment): number {
  const { terms, postings, counts, size, vectors } = segment
  const perChunk = 16 + fieldCount * 2 + 200
  return terms.length * 8 + postings.length * 4 + counts.length + size * perChunk + vectors.codes.length
}
