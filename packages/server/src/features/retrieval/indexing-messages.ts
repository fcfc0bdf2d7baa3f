import type { SkipReason } from './skip-reason.ts'

/** One file on its way to the indexing thread. */
export interface IndexingRequest {
  id: number
  text: string
  language: string | null
}

/** A chunk ready to be stored; positions in characters as PostgreSQL counts them, `length` in UTF-16 units. */
export interface IndexedChunk {
  startLine: number
  endLine: number
  startCharacter: number
  characters: number
  length: number
  header: string
  symbols: string[]
  /** packed, see chunk-terms.ts */
  terms: Uint8Array
}

export type IndexingResponse =
  | { type: 'indexed'; id: number; chunks: IndexedChunk[]; thread: 'sound' | 'damaged' }
  | { type: 'skipped'; id: number; reason: SkipReason }
  | { type: 'failed'; id: number; message: string }
