import { fieldCount } from './chunk-terms.ts'
import { emptyVectors, type IndexSegment } from './index-segment.ts'

/** One segment with the chunks of `segments` that `isLive`, in the same order. */
export function mergeSegments(
  segments: readonly IndexSegment[],
  isLive: (segment: IndexSegment, chunk: number) => boolean,
  dimensions: number,
): IndexSegment {
  const kept = segments.flatMap((segment) =>
    Array.from({ length: segment.size }, (_, chunk) => ({ segment, chunk })).filter((place) =>
      isLive(place.segment, place.chunk),
    ),
  )
  const postings = mergePostings(segments, renumber(segments, kept))
  const vectors = emptyVectors(kept.length, dimensions)
  for (const [index, { segment, chunk }] of kept.entries()) {
    if (segment.vectors.dimensions !== dimensions) continue
    const from = chunk * dimensions
    vectors.codes.set(segment.vectors.codes.subarray(from, from + dimensions), index * dimensions)
    vectors.scales[index] = segment.vectors.scales[chunk] ?? 0
  }
  return {
    size: kept.length,
    chunkIds: Float64Array.from(kept, ({ segment, chunk }) => segment.chunkIds[chunk] ?? 0),
    contentIds: Float64Array.from(kept, ({ segment, chunk }) => segment.contentIds[chunk] ?? 0),
    ...postings,
    lengths: mergeLengths(kept),
    symbols: kept.map(({ segment, chunk }) => segment.symbols[chunk] ?? []),
    vectors,
  }
}

const dropped = 0xffffffff

/** New number of each chunk of each segment. */
function renumber(
  segments: readonly IndexSegment[],
  kept: readonly { segment: IndexSegment; chunk: number }[],
): Uint32Array[] {
  const numbers = new Map(segments.map((segment) => [segment, new Uint32Array(segment.size).fill(dropped)]))
  for (const [index, { segment, chunk }] of kept.entries()) {
    const own = numbers.get(segment)
    if (own !== undefined) own[chunk] = index
  }
  return [...numbers.values()]
}

function mergeLengths(kept: readonly { segment: IndexSegment; chunk: number }[]): Uint16Array {
  const lengths = new Uint16Array(kept.length * fieldCount)
  for (const [index, { segment, chunk }] of kept.entries()) {
    lengths.set(segment.lengths.subarray(chunk * fieldCount, (chunk + 1) * fieldCount), index * fieldCount)
  }
  return lengths
}

/** Walks the sorted terms of all segments side by side; numbers grow with the segment, so postings stay ascending. */
function mergePostings(segments: readonly IndexSegment[], numbers: readonly Uint32Array[]) {
  const capacity = segments.reduce((sum, segment) => sum + segment.postings.length, 0)
  const termCapacity = segments.reduce((sum, segment) => sum + segment.terms.length, 0)
  const terms = new Uint32Array(termCapacity)
  const starts = new Uint32Array(termCapacity + 1)
  const postings = new Uint32Array(capacity)
  const counts = new Uint8Array(capacity * fieldCount)
  const cursors = segments.map(() => 0)
  let termCount = 0
  let written = 0
  for (;;) {
    const term = smallestTerm(segments, cursors)
    if (term === undefined) break
    const before = written
    for (const [index, segment] of segments.entries()) {
      const cursor = cursors[index] ?? 0
      if (segment.terms[cursor] !== term) continue
      cursors[index] = cursor + 1
      const end = segment.starts[cursor + 1] ?? 0
      for (let at = segment.starts[cursor] ?? 0; at < end; at += 1) {
        const number = numbers[index]?.[segment.postings[at] ?? 0] ?? dropped
        if (number === dropped) continue
        postings[written] = number
        for (let field = 0; field < fieldCount; field += 1) {
          counts[written * fieldCount + field] = segment.counts[at * fieldCount + field] ?? 0
        }
        written += 1
      }
    }
    if (written === before) continue
    terms[termCount] = term
    termCount += 1
    starts[termCount] = written
  }
  return {
    terms: terms.slice(0, termCount),
    starts: starts.slice(0, termCount + 1),
    postings: postings.slice(0, written),
    counts: counts.slice(0, written * fieldCount),
  }
}

function smallestTerm(segments: readonly IndexSegment[], cursors: readonly number[]): number | undefined {
  let smallest: number | undefined
  for (const [index, segment] of segments.entries()) {
    const term = segment.terms[cursors[index] ?? 0]
    if (term !== undefined && (smallest === undefined || term < smallest)) smallest = term
  }
  return smallest
}
