import type { LineTable } from './line-table.ts'

/** A run of whole lines. The chunks of a text, joined, are the text. */
export interface Chunk {
  /** one-based, both included */
  startLine: number
  endLine: number
  content: string
  /** names defined in these lines, outermost first */
  symbols: string[]
  /** what the lines are part of: `class Router › find(path: string)`; empty at the top of a file */
  header: string
}

/** Lines `from` (included) to `to` (excluded), zero-based, with what is known about them. */
export interface LineSpan {
  from: number
  to: number
  symbols: string[]
  header: string
}

export interface ChunkLimits {
  /** a chunk is split beyond this, unless it is one line */
  maxWeight: number
  /** neighbours are joined up to this */
  mergeWeight: number
}

/** Weights are non-whitespace characters; chosen on the tuning set of bench/retrieval-quality.ts. */
export const defaultChunkLimits: ChunkLimits = { maxWeight: 1_500, mergeWeight: 600 }

export function toChunks(text: string, lines: LineTable, spans: readonly LineSpan[]): Chunk[] {
  return spans.map((span) => ({
    startLine: span.from + 1,
    endLine: span.to,
    content: text.slice(lines.lineStart(span.from), lines.lineStart(span.to)),
    symbols: span.symbols,
    header: span.header,
  }))
}
