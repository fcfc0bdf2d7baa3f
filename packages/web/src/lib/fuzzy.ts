export interface FuzzyMatch<Item> {
  item: Item
  score: number
  /** indexes of the characters of the text that matched */
  positions: number[]
}

/** Weights: where a match begins matters most, then that it is unbroken, then that the text is short. */
const weight = {
  fileNameStart: 12,
  wordStart: 8,
  consecutive: 6,
  fileName: 3,
  sameCase: 1,
  lengthPenalty: 0.05,
}

/** A match below this share of the best one is a coincidence of letters. */
const leastShare = 0.35

/** The best `limit` items whose text contains the characters of `query` in order; the query's spaces are ignored. */
export function fuzzyFind<Item>(
  items: readonly Item[],
  query: string,
  { textOf, limit }: { textOf: (item: Item) => string; limit: number },
): FuzzyMatch<Item>[] {
  const wanted = query.replaceAll(/\s+/g, '')
  if (wanted === '') return items.slice(0, limit).map((item) => ({ item, score: 0, positions: [] }))
  const found: FuzzyMatch<Item>[] = []
  for (const item of items) {
    const match = matchText(textOf(item), wanted)
    if (match !== null) found.push({ item, ...match })
  }
  found.sort((a, b) => b.score - a.score)
  const least = (found[0]?.score ?? 0) * leastShare
  return found.filter(({ score }) => score >= least).slice(0, limit)
}

/**
 * Matches in one piece, in the file's name, from the start and from the end, and keeps the best. Each is linear in the
 * text, which is what thousands of paths a keystroke can afford.
 */
function matchText(text: string, wanted: string): { score: number; positions: number[] } | null {
  const lower = text.toLowerCase()
  const query = wanted.toLowerCase()
  const whole = lower.lastIndexOf(query)
  const candidates = [
    whole === -1 ? null : Array.from(query, (_character, index) => whole + index),
    forwards(lower, query, lower.lastIndexOf('/') + 1),
    forwards(lower, query, 0),
    backwards(lower, query),
  ]
  let best: { score: number; positions: number[] } | null = null
  for (const positions of candidates) {
    if (positions === null) continue
    const score = scoreOf(text, wanted, positions)
    if (best === null || score > best.score) best = { score, positions }
  }
  return best
}

function forwards(lower: string, query: string, start: number): number[] | null {
  const positions: number[] = []
  let from = start
  for (const character of query) {
    const at = lower.indexOf(character, from)
    if (at === -1) return null
    positions.push(at)
    from = at + 1
  }
  return positions
}

function backwards(lower: string, query: string): number[] | null {
  const positions: number[] = []
  let from = lower.length - 1
  for (const character of Array.from(query).reverse()) {
    const at = from < 0 ? -1 : lower.lastIndexOf(character, from)
    if (at === -1) return null
    positions.unshift(at)
    from = at - 1
  }
  return positions
}

function scoreOf(text: string, wanted: string, positions: number[]): number {
  const nameStart = text.lastIndexOf('/') + 1
  let score = -text.length * weight.lengthPenalty
  positions.forEach((position, index) => {
    if (position === nameStart) score += weight.fileNameStart
    else if (isWordStart(text, position)) score += weight.wordStart
    if (position >= nameStart) score += weight.fileName
    if (index > 0 && position === (positions[index - 1] ?? 0) + 1) score += weight.consecutive
    if (text[position] === wanted[index]) score += weight.sameCase
  })
  return score
}

function isWordStart(text: string, position: number): boolean {
  const before = text[position - 1]
  if (before === undefined || /[/\\._\-\s]/.test(before)) return true
  return /[a-z0-9]/.test(before) && /[A-Z]/.test(text[position] ?? '')
}
