/** Lines of a file, 1-based, both ends included. */
export interface LineRange {
  start: number
  end: number
}

/** Reads `#L12` or `#L12-40` (also `#L12-L40`); null for anything else. */
export function parseLineRange(hash: string): LineRange | null {
  const match = /^#?L(\d{1,7})(?:-L?(\d{1,7}))?$/.exec(hash)
  if (match === null) return null
  const first = Number(match[1])
  const second = match[2] === undefined ? first : Number(match[2])
  const start = Math.min(first, second)
  return start < 1 ? null : { start, end: Math.max(first, second) }
}

/** `L12` or `L12-40`. */
export function formatLineRange({ start, end }: LineRange): string {
  return start === end ? `L${start}` : `L${start}-${end}`
}
