import { titleMark } from './hashed-embedder.ts'

/** What is embedded of a chunk: the names it defines as a title, what it is part of, then its lines. */
export function embeddingText(chunk: {
  symbols: readonly string[]
  header: string
  content: string
}): string {
  const title = chunk.symbols.length > 0 ? `${titleMark}${chunk.symbols.join(' ')}\n` : ''
  const header = chunk.header === '' ? '' : `${chunk.header}\n`
  return title + header + chunk.content
}
