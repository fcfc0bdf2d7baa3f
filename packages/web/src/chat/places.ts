import type { LineRange } from '../lib/line-range.ts'

/** A place in the workspace that a text names; `lines` is null for a whole file. */
export interface Place {
  path: string
  lines: LineRange | null
}

/** Gives the path of a file by its path or by an ending of it that belongs to one file only; null for anything else. */
export type PathResolver = (name: string) => string | null

export function createPathResolver(files: readonly string[]): PathResolver {
  const exact = new Set(files)
  const known = new Map<string, string | null>()
  const search = (name: string): string | null => {
    if (exact.has(name)) return name
    const matches = files.filter((path) => path.endsWith(`/${name}`))
    return matches.length === 1 ? (matches[0] ?? null) : null
  }
  return (name) => {
    const wanted = name.replace(/^\.?\//, '')
    if (wanted === '') return null
    const cached = known.get(wanted)
    if (cached !== undefined) return cached
    const found = search(wanted)
    known.set(wanted, found)
    return found
  }
}

/** A name and its first range: `a/b.ts:12-40`, `b.ts:12`, `a/b.ts#L12-L40`. */
const firstRange = /([^\s`'"<>|*,;]+?)[:#]L?(\d{1,7})(?:\s?[-–—]\s?L?(\d{1,7}))?(?!\w)/g
/** More ranges of the same file: `, 50-60`. */
const nextRange = /,\s?L?(\d{1,7})\s?[-–—]\s?L?(\d{1,7})(?!\w)/y

/**
 * Splits a text at the places it names. Only names of files that are there become places; brackets that enclose one
 * place and nothing else go with it.
 */
export function splitPlaces(text: string, resolve: PathResolver): (string | Place)[] {
  const parts: (string | Place)[] = []
  let end = 0
  for (const match of text.matchAll(firstRange)) {
    if (match.index < end) continue
    const name = resolvedName(match[1] ?? '', resolve)
    if (name === null) continue
    let from = match.index + name.skipped
    let to = match.index + match[0].length
    const places: Place[] = [{ path: name.path, lines: rangeOf(match[2], match[3]) }]
    for (;;) {
      nextRange.lastIndex = to
      const next = nextRange.exec(text)
      if (next === null) break
      places.push({ path: name.path, lines: rangeOf(next[1], next[2]) })
      to = nextRange.lastIndex
    }
    if (text[from - 1] === '[' && text[to] === ']') {
      from -= 1
      to += 1
    }
    if (from > end) parts.push(text.slice(end, from))
    places.forEach((place, index) => {
      if (index > 0) parts.push(' ')
      parts.push(place)
    })
    end = to
  }
  if (end < text.length) parts.push(text.slice(end))
  return parts
}

/** A name may have an opening bracket of the sentence before it, or brackets of its own (`app/[id]/page.tsx`). */
function resolvedName(name: string, resolve: PathResolver): { path: string; skipped: number } | null {
  for (let skipped = 0; skipped < name.length; skipped += 1) {
    const path = resolve(name.slice(skipped))
    if (path !== null) return { path, skipped }
    if (!/[([{]/.test(name[skipped] ?? '')) return null
  }
  return null
}

function rangeOf(first: string | undefined, second: string | undefined): LineRange | null {
  const start = Number(first)
  const end = second === undefined ? start : Number(second)
  return start < 1 || end < 1 ? null : { start: Math.min(start, end), end: Math.max(start, end) }
}
