import type { Citation } from '@atelier/contract'
import type { Passage } from './workspace-context.ts'

/** Most citations of one answer: more than a person follows, few enough for the last chunk. */
export const maxCitations = 100

/** Most places that are compared with each other: the time grows with their square. */
const maxPlaces = 500

/**
 * What an answer cites: places written as `path:12-40`, `path:12`, `path#L12-L40` or `path:L12`, also several ranges
 * after one path, each checked against the passages that the model was given. A place that no passage covers is not
 * a citation, however plausible. When nothing is cited, all passages are: the answer rests on them.
 * Takes the whole answer, so it does not matter where the stream was cut into pieces.
 */
export function citationsOf(answer: string, passages: readonly Passage[]): Citation[] {
  if (passages.length === 0) return []
  const cited = placesIn(answer, passages).flatMap((place) => confirm(place, passages))
  const places = cited.length > 0 ? cited.slice(0, maxPlaces) : passages.map(toCitation)
  return distinct(places).slice(0, maxCitations)
}

interface Place {
  path: string
  from: number
  to: number
}

/** After a path. What follows a line number after a second colon is a column. */
const firstRange = /[:#]L?(\d{1,7})(?:\s?[-–—]\s?L?(\d{1,7}))?/y
/** After a range; a single number after a comma is more likely prose. */
const nextRange = /,\s?L?(\d{1,7})\s?[-–—]\s?L?(\d{1,7})/y

/** Finds the known paths rather than anything that looks like a path: `app/[id]/page.tsx` has brackets of its own. */
function placesIn(answer: string, passages: readonly Passage[]): Place[] {
  const places: (Place & { at: number })[] = []
  for (const [name, path] of namesOf(passages)) {
    for (let at = answer.indexOf(name); at !== -1; at = answer.indexOf(name, at + 1)) {
      if (continuesAName(answer, at)) continue
      for (const [from, to] of rangesAt(answer, at + name.length)) places.push({ path, from, to, at })
    }
  }
  return places.sort((left, right) => left.at - right.at)
}

/** Every path, and every ending of it that begins after a slash and belongs to one path only. */
function namesOf(passages: readonly Passage[]): Map<string, string> {
  const paths = new Set(passages.map((passage) => passage.path))
  const endings = new Map<string, string | null>()
  for (const path of paths) {
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      const ending = path.slice(slash + 1)
      endings.set(ending, endings.has(ending) ? null : path)
    }
  }
  const names = new Map<string, string>()
  for (const [ending, path] of endings) if (path !== null) names.set(ending, path)
  for (const path of paths) names.set(path, path)
  return names
}

/** `b.ts` inside `a/b.ts` or `ab.ts` is not a name of its own; in `./b.ts` and `/b.ts` it is. */
function continuesAName(answer: string, at: number): boolean {
  if (answer[at - 1] === '/') return !leadingSlash.test(answer.slice(Math.max(0, at - 3), at))
  return nameCharacter.test(answer.slice(Math.max(0, at - 1), at))
}

const leadingSlash = /(^|[\s"'`([{<,;])\.?\/$/
const nameCharacter = /[\p{L}\p{N}_.$@~-]/u

function* rangesAt(answer: string, start: number): Generator<[from: number, to: number]> {
  let pattern = firstRange
  let position = start
  for (;;) {
    pattern.lastIndex = position
    const match = pattern.exec(answer)
    if (match === null) return
    const from = Number(match[1])
    const to = match[2] === undefined ? from : Number(match[2])
    yield [Math.min(from, to), Math.max(from, to)]
    position = pattern.lastIndex
    pattern = nextRange
  }
}

/** The parts of a place that passages cover. */
function confirm(place: Place, passages: readonly Passage[]): Citation[] {
  return passages
    .filter((passage) => passage.path === place.path)
    .map((passage) => ({
      path: place.path,
      startLine: Math.max(place.from, passage.startLine),
      endLine: Math.min(place.to, passage.endLine),
      contentSha256: passage.contentSha256,
    }))
    .filter((citation) => citation.startLine <= citation.endLine)
}

function toCitation({ path, startLine, endLine, contentSha256 }: Passage): Citation {
  return { path, startLine, endLine, contentSha256 }
}

/** Keeps the order of first mention; drops what another citation contains. */
function distinct(citations: readonly Citation[]): Citation[] {
  const kept: Citation[] = []
  for (const citation of citations) {
    if (kept.some((other) => contains(other, citation))) continue
    const swallowed = kept.findIndex((other) => contains(citation, other))
    if (swallowed === -1) kept.push(citation)
    else kept[swallowed] = citation
  }
  return kept.filter(
    (citation, index) => !kept.some((other, place) => place < index && contains(other, citation)),
  )
}

function contains(outer: Citation, inner: Citation): boolean {
  return outer.path === inner.path && outer.startLine <= inner.startLine && outer.endLine >= inner.endLine
}
