import { countTerms, forEachTerm } from './code-tokenizer.ts'
import { termHash } from './term-hash.ts'

/** The fields of a chunk that terms are counted in. */
export const chunkFields = ['body', 'symbol', 'header'] as const
export const fieldCount = chunkFields.length

/** What the lexical and the symbol leg know of a chunk. */
export interface ChunkTerms {
  /** distinct terms, ascending */
  hashes: Uint32Array
  /** `fieldCount` counts a term, each at most 255 */
  counts: Uint8Array
  /** all occurrences, by field */
  lengths: readonly number[]
  /** each symbol as the hashes of its parts */
  symbols: readonly Uint32Array[]
}

const maxCount = 0xff
const maxLength = 0xffff
const maxSymbols = 0xff

export function termsOfChunk(chunk: {
  content: string
  symbols: readonly string[]
  header: string
}): ChunkTerms {
  const fields = [chunk.content, chunk.symbols.join(' '), chunk.header].map(countTerms)
  const byHash = new Map<number, number[]>()
  for (const [field, terms] of fields.entries()) {
    for (const [term, count] of terms) {
      const hash = termHash(term)
      const counts = byHash.get(hash) ?? new Array<number>(fieldCount).fill(0)
      counts[field] = Math.min(maxCount, (counts[field] ?? 0) + count)
      byHash.set(hash, counts)
    }
  }
  const hashes = Uint32Array.from(byHash.keys()).sort()
  return {
    hashes,
    counts: Uint8Array.from([...hashes].flatMap((hash) => byHash.get(hash) ?? [])),
    lengths: fields.map((terms) =>
      Math.min(
        maxLength,
        [...terms.values()].reduce((sum, count) => sum + count, 0),
      ),
    ),
    symbols: chunk.symbols
      .slice(0, maxSymbols)
      .map(partHashes)
      .filter((parts) => parts.length > 0),
  }
}

/** Hashes of the parts of a name or a question, without whole identifiers. */
export function partHashes(text: string): Uint32Array {
  const parts: number[] = []
  forEachTerm(text, (term) => {
    if (!term.startsWith('=')) parts.push(termHash(term))
  })
  return Uint32Array.from(parts)
}

const formatVersion = 1

/** As the `terms` column has it, little endian: version, terms, lengths, hashes, counts, then each symbol. */
export function packTerms({ hashes, counts, lengths, symbols }: ChunkTerms): Buffer {
  const symbolBytes = symbols.reduce((sum, parts) => sum + 1 + Math.min(maxSymbols, parts.length) * 4, 0)
  const bytes = Buffer.alloc(1 + 2 + fieldCount * 2 + hashes.length * 4 + counts.length + 1 + symbolBytes)
  let at = bytes.writeUInt8(formatVersion, 0)
  at = bytes.writeUInt16LE(hashes.length, at)
  for (const length of lengths) at = bytes.writeUInt16LE(length, at)
  for (const hash of hashes) at = bytes.writeUInt32LE(hash, at)
  bytes.set(counts, at)
  at = bytes.writeUInt8(symbols.length, at + counts.length)
  for (const parts of symbols) {
    const kept = parts.subarray(0, maxSymbols)
    at = bytes.writeUInt8(kept.length, at)
    for (const part of kept) at = bytes.writeUInt32LE(part, at)
  }
  return bytes
}

/** Throws RangeError on bytes that `packTerms` did not make. */
export function unpackTerms(bytes: Buffer): ChunkTerms {
  if (bytes.readUInt8(0) !== formatVersion) throw new RangeError(`terms of format ${bytes.readUInt8(0)}`)
  const size = bytes.readUInt16LE(1)
  const lengths = Array.from({ length: fieldCount }, (_, field) => bytes.readUInt16LE(3 + field * 2))
  let at = 3 + fieldCount * 2
  const hashes = readHashes(bytes, at, size)
  at += size * 4
  const counts = new Uint8Array(bytes.subarray(at, at + size * fieldCount))
  at += counts.length
  const symbols: Uint32Array[] = []
  const symbolCount = bytes.readUInt8(at)
  at += 1
  for (let symbol = 0; symbol < symbolCount; symbol += 1) {
    const parts = bytes.readUInt8(at)
    symbols.push(readHashes(bytes, at + 1, parts))
    at += 1 + parts * 4
  }
  return { hashes, counts, lengths, symbols }
}

function readHashes(bytes: Buffer, at: number, count: number): Uint32Array {
  const hashes = new Uint32Array(count)
  for (let index = 0; index < count; index += 1) hashes[index] = bytes.readUInt32LE(at + index * 4)
  return hashes
}
