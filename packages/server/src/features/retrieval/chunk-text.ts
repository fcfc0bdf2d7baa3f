import { type Chunk, type ChunkLimits, defaultChunkLimits, type LineSpan, toChunks } from './chunk.ts'
import { spansBySyntax } from './code-chunker.ts'
import type { Grammars } from './grammars.ts'
import { spansByHeading, spansByLine } from './line-chunker.ts'
import { createLineTable } from './line-table.ts'

export interface ChunkedText {
  chunks: Chunk[]
  /** `damaged`: the grammar crashed; the WebAssembly memory of this thread must not be trusted any more. */
  parser: 'sound' | 'damaged'
}

/** Cuts a text into chunks that, joined, are the text: by syntax where there is a grammar, else by headings or lines. */
export async function chunkText(
  source: { text: string; language: string | null },
  grammars: Grammars,
  limits: ChunkLimits = defaultChunkLimits,
): Promise<ChunkedText> {
  const { text, language } = source
  const lines = createLineTable(text)
  if (lines.count === 0) return { chunks: [], parser: 'sound' }
  const byLine = () => spansByLine(lines, { from: 0, to: lines.count, header: '' }, limits)
  if (language === 'markdown')
    return { chunks: toChunks(text, lines, spansByHeading(text, lines, limits)), parser: 'sound' }
  const parser = await grammars.parserFor(language)
  if (parser === null) return { chunks: toChunks(text, lines, byLine()), parser: 'sound' }
  let spans: LineSpan[] | null
  try {
    spans = spansBySyntax(parser, { text, lines, limits })
  } catch {
    // A grammar that crashes (an assertion, memory out of bounds) must not cost the file.
    return { chunks: toChunks(text, lines, byLine()), parser: 'damaged' }
  }
  return { chunks: toChunks(text, lines, spans ?? byLine()), parser: 'sound' }
}
