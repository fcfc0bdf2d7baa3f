/** Bytes of a file: from `start`, up to and without `end`. */
export interface ByteRange {
  start: number
  end: number
}

export type RequestedRange =
  | { kind: 'whole' }
  | { kind: 'part'; range: ByteRange }
  | { kind: 'unsatisfiable' }

/**
 * Reads a `Range` header against a file of `size` bytes, as RFC 9110 section 14 has it. Another unit, several ranges or
 * what is no range at all mean the whole file, which the RFC allows a server to answer.
 */
export function parseRange(header: string | undefined, size: number): RequestedRange {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return { kind: 'whole' }
  if (from === '') {
    const length = Math.min(Number(to), size)
    return length === 0 ? { kind: 'unsatisfiable' } : part(size - length, size)
  }
  const start = Number(from)
  const end = to === '' ? size : Math.min(Number(to) + 1, size)
  if (to !== '' && Number(to) < start) return { kind: 'whole' }
  return start >= size ? { kind: 'unsatisfiable' } : part(start, end)
}

function part(start: number, end: number): RequestedRange {
  return { kind: 'part', range: { start, end } }
}
