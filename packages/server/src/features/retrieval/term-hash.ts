/**
 * 32 bits of a term: FNV-1a over its UTF-16 units, then the finaliser of MurmurHash3. Among 50,000 terms of a workspace
 * about 0.3 pairs share a hash, which costs one wrong match in a ranking, never a wrong line.
 */
export function termHash(term: string): number {
  let hash = offsetBasis
  for (let at = 0; at < term.length; at += 1) hash = Math.imul(hash ^ term.charCodeAt(at), prime)
  return finalise(hash)
}

/** Calls `emit` with the hash of every window of three characters of a term that is framed as `<term>`. */
export function forEachGramHash(term: string, emit: (hash: number) => void): void {
  const last = term.length
  const code = (at: number) => (at < 0 ? lessThan : at < last ? term.charCodeAt(at) : greaterThan)
  for (let at = -1; at < last - 1; at += 1) {
    let hash = Math.imul(offsetBasis ^ windowMark, prime)
    hash = Math.imul(hash ^ code(at), prime)
    hash = Math.imul(hash ^ code(at + 1), prime)
    emit(finalise(Math.imul(hash ^ code(at + 2), prime)))
  }
}

const offsetBasis = 0x811c9dc5
const prime = 0x01000193
const lessThan = 60
const greaterThan = 62
/** `#`, which keeps a window apart from a term with the same letters. */
const windowMark = 35

function finalise(fnv: number): number {
  let hash = fnv
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
