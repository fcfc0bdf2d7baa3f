import { type IndexSegment, signsOf } from './index-segment.ts'
import type { AnalysedQuery } from './query-terms.ts'
import { createTopRanked, type Scored } from './ranked.ts'
import type { IndexView } from './workspace-index.ts'

/** Multiplications that are done at once: about 5 ms. Beyond them bits choose what is multiplied. */
const maxProducts = 5_000_000
/** Candidates that the bits give to the exact comparison, for each result that is wanted. */
const oversampling = 8

export interface VectorLeg {
  ranked: Scored<number>[]
  /** whether every chunk was compared */
  exact: boolean
  /** what similarity is usual between this question and this workspace */
  background: { mean: number; deviation: number; samples: number }
}

/**
 * Chunks by cosine similarity, exactly over all of them where that is quick enough. Otherwise the signs of the components,
 * weighted by the question's, choose candidates for the exact comparison. Scores carry the factor of the kind of file.
 */
export function vectorLeg(
  view: IndexView,
  query: { vector: Float32Array; analysed: AnalysedQuery },
  options: { depth: number; exact: boolean },
): VectorLeg {
  const { vector, analysed } = query
  const present = nonZero(vector)
  const top = createTopRanked<number>(options.depth)
  const factors = view.factors[analysed.intent]
  const probe = { vector, present, wanted: options.depth * oversampling }
  const exact = options.exact || present.length * view.liveChunks <= maxProducts
  const compare = exact ? everyChunk : likelyChunks
  compare(view, probe, (item, slot, similarity) => {
    // What points away from the question is no candidate, however few there are.
    if (similarity > 0) top.offer(item, similarity * (factors[slot] ?? 0))
  })
  return { ranked: top.list(), exact, background: backgroundOf(view, probe) }
}

function backgroundOf(view: IndexView, probe: Probe): VectorLeg['background'] {
  const stride = view.liveChunks < 1_000 ? 1 : backgroundStride
  let samples = 0
  let total = 0
  let squares = 0
  for (const { segment, slots } of view.segments) {
    for (let chunk = 0; chunk < segment.size; chunk += stride) {
      if ((slots[chunk] ?? -1) < 0 || segment.vectors.scales[chunk] === 0) continue
      const similarity = similarityTo(segment, chunk, probe)
      samples += 1
      total += similarity
      squares += similarity * similarity
    }
  }
  const mean = samples === 0 ? 0 : total / samples
  return {
    mean,
    deviation: samples === 0 ? 0 : Math.sqrt(Math.max(0, squares / samples - mean * mean)),
    samples,
  }
}

/** One chunk in this many is compared exactly to know what similarity is usual. */
const backgroundStride = 16

function likelyChunks(view: IndexView, probe: Probe, visit: Visit): void {
  const table = signTable(probe.vector)
  const likely = createTopRanked<Place & { segment: IndexSegment }>(probe.wanted)
  for (const { segment, base, slots } of view.segments) {
    const signs = signsOf(segment)
    const stride = Math.ceil(segment.vectors.dimensions / 8)
    for (let chunk = 0; chunk < segment.size; chunk += 1) {
      const slot = slots[chunk] ?? -1
      if (slot < 0 || segment.vectors.scales[chunk] === 0) continue
      let estimate = 0
      for (let byte = 0; byte < stride; byte += 1) {
        estimate += table[byte * 256 + (signs[chunk * stride + byte] as number)] as number
      }
      if (estimate > likely.floor()) likely.offer({ segment, base, chunk, slot }, estimate)
    }
  }
  for (const { item } of likely.list()) {
    visit(item.base + item.chunk, item.slot, similarityTo(item.segment, item.chunk, probe))
  }
}

/** For each byte of signs and each of its values, what its components add to the estimate. */
function signTable(vector: Float32Array): Float32Array {
  const bytes = Math.ceil(vector.length / 8)
  const table = new Float32Array(bytes * 256)
  for (let byte = 0; byte < bytes; byte += 1) {
    for (let value = 0; value < 256; value += 1) {
      let sum = 0
      for (let bit = 0; bit < 8; bit += 1) {
        const component = vector[byte * 8 + bit] ?? 0
        sum += value & (1 << bit) ? component : -component
      }
      table[byte * 256 + value] = sum
    }
  }
  return table
}

interface Place {
  base: number
  chunk: number
  slot: number
}

interface Probe {
  vector: Float32Array
  present: Uint16Array
  wanted: number
}

/** Called for up to every chunk, hence without an object to carry its arguments. */
type Visit = (item: number, slot: number, similarity: number) => void

/** A hashed question has few components, which makes the exact scan of 20,000 chunks a matter of milliseconds. */
function nonZero(vector: Float32Array): Uint16Array {
  return Uint16Array.from([...vector.keys()].filter((at) => vector[at] !== 0))
}

function everyChunk(view: IndexView, probe: Probe, visit: Visit): void {
  for (const { segment, base, slots } of view.segments) {
    for (let chunk = 0; chunk < segment.size; chunk += 1) {
      const slot = slots[chunk] ?? -1
      if (slot < 0 || segment.vectors.scales[chunk] === 0) continue
      visit(base + chunk, slot, similarityTo(segment, chunk, probe))
    }
  }
}

/** Inner loop of the leg: the indices are in bounds, and a check of each would cost as much as the rest. */
function similarityTo({ vectors }: IndexSegment, chunk: number, { vector, present }: Probe): number {
  const { codes, dimensions } = vectors
  const start = chunk * dimensions
  let sum = 0
  if (present.length === dimensions) {
    for (let at = 0; at < dimensions; at += 1) sum += (vector[at] as number) * (codes[start + at] as number)
  } else {
    for (let index = 0; index < present.length; index += 1) {
      const at = present[index] as number
      sum += (vector[at] as number) * (codes[start + at] as number)
    }
  }
  return sum * (vectors.scales[chunk] as number)
}
