import { type Definition, definitionsIn, languageOf } from './outline.ts'
import type { LocalPassage } from './passage.ts'
import type { Question } from './question.ts'
import { partsOf, stem, stemsOf } from './words.ts'

/** A piece of a passage that may answer: a definition, or some lines that are part of none. */
export interface Candidate {
  passage: LocalPassage
  definition: Definition | undefined
  startLine: number
  endLine: number
  /** larger is better; comparable within one ranking only */
  score: number
  /** the best of a passage that search put first: it knows more words for a thing than the question has */
  leading?: boolean
}

export interface Ranking {
  /** best first; none overlaps another one before it */
  candidates: Candidate[]
  definitions: Definition[]
  /** words of the question that no passage has */
  missing: string[]
  /** how much of the question a text is about, from 0 to 1 */
  relevance(text: string): number
}

/** Lines of a window that is not a definition. */
const windowLines = 6
const mostCandidates = 8
/** Passages that search put first, of which something is shown in any case. */
const leadingPassages = 3

/** Ranks what the passages hold by what the question is about: rare words and names that it spells count most. */
export function rank(question: Question, passages: readonly LocalPassage[]): Ranking {
  const subject = subjectOf(question, passages)
  const definitions = passages.flatMap(definitionsIn)
  const scored = [
    ...definitions.map((definition) => scoreDefinition(definition, question, subject, passages)),
    ...passages.flatMap((passage, index) => windowsOf(passage, index, definitions, question, subject)),
  ].filter((candidate) => candidate.score > 0)
  scored.sort((left, right) => right.score - left.score)
  for (const passage of passages.slice(0, leadingPassages)) {
    const first = scored.find((candidate) => candidate.passage === passage)
    if (first) first.leading = true
  }
  return {
    candidates: withoutOverlap(scored),
    definitions,
    missing: subject.missing,
    relevance: subject.share,
  }
}

/** Words of a question that are looked for: each is a bit of a 31-bit number. */
const mostTerms = 30
/** Lines of one definition that are read for its score; a class of thousands of lines is not about anything. */
const mostBodyLines = 400

/** What a question is about, counted once for each line of the passages. */
interface Subject {
  missing: string[]
  /** weight of the question's words in a text, as a share of all */
  share(text: string): number
  shareOfLines(passage: LocalPassage, startLine: number, endLine: number): number
}

/** A word weighs more the fewer lines have it. */
function subjectOf({ terms: allTerms, words }: Question, passages: readonly LocalPassage[]): Subject {
  const terms = allTerms.slice(0, mostTerms)
  const bits = new Map(terms.map((term, index) => [term, 1 << index]))
  const maskOf = (text: string) => {
    let mask = 0
    for (const found of stemsOf(text)) mask |= bits.get(found) ?? 0
    return mask
  }
  const masks = new Map(
    passages.map((passage) => [
      passage,
      passage.content.split('\n').map((line) => maskOf(line.slice(0, longestLine))),
    ]),
  )
  const lines = [...masks.values()].flat()
  const inPaths = passages.reduce((mask, passage) => mask | maskOf(passage.path), 0)
  const weights = terms.map((_, index) => {
    const frequency = lines.filter((mask) => mask & (1 << index)).length
    return frequency === 0 && !(inPaths & (1 << index)) ? 0 : Math.log(1 + lines.length / (1 + frequency))
  })
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const shareOf = (mask: number) =>
    total === 0
      ? 0
      : weights.reduce((sum, weight, index) => (mask & (1 << index) ? sum + weight : sum), 0) / total
  return {
    missing: terms.filter((_, index) => weights[index] === 0).map((term) => words.get(term) ?? term),
    share: (text) => shareOf(maskOf(text)),
    shareOfLines(passage, startLine, endLine) {
      const from = startLine - passage.startLine
      const range =
        masks.get(passage)?.slice(from, Math.min(endLine - passage.startLine + 1, from + mostBodyLines)) ?? []
      return shareOf(range.reduce((mask, line) => mask | line, 0))
    },
  }
}

/** Characters of a line that are read: longer ones are data or were made by a machine. */
const longestLine = 400

function scoreDefinition(
  definition: Definition,
  question: Question,
  subject: Subject,
  passages: readonly LocalPassage[],
): Candidate {
  const { passage, name, startLine, endLine } = definition
  const length = endLine - startLine + 1
  // A class of 300 lines has every word somewhere.
  const focus = Math.min(1, (24 / length) ** 0.35)
  const score =
    3 * subject.share(name) +
    1.5 * subject.share(definition.doc) +
    subject.share(definition.signature) +
    1.2 * focus * subject.shareOfLines(passage, startLine, endLine) +
    0.5 * subject.share(passage.path) +
    nameMatch(name, question)
  return {
    passage,
    definition,
    startLine,
    endLine,
    score: score * prior(passage, passages.indexOf(passage), question) * kindFactor(definition, question),
  }
}

/** A name that the question spells, or all of whose parts it has. */
function nameMatch(name: string, { names, terms }: Question): number {
  const plain = name.toLowerCase()
  const spelled = names.some((asked) => asked === name || asked.split(/[.:#]+/).at(-1) === name)
  if (spelled) return 5
  if (names.some((asked) => asked.toLowerCase() === plain)) return 4
  const parts = partsOf(name).map(stem)
  const shared = parts.filter((part) => terms.includes(part)).length
  return parts.length > 1 ? 1.5 * (shared / parts.length) ** 2 : 0
}

const testPath = /(^|[./_-])(tests?|specs?|__tests__|fixtures?|mocks?|examples?|bench(marks?)?)([./_-]|$)/i
const builtPath = /(^|\/)(dist|build|vendor|node_modules|esm|cjs)\/|\.min\.|\.d\.[cm]?ts$/i

/** Retrieval's own order counts, and tests and build output come after the source. */
function prior(passage: LocalPassage, index: number, { terms }: Question): number {
  const wantsTests = terms.some((term) => ['test', 'spec', 'exampl', 'bench', 'fixtur'].includes(term))
  const place = testPath.test(passage.path) && !wantsTests ? 0.55 : builtPath.test(passage.path) ? 0.75 : 1
  return place / (1 + 0.05 * index)
}

/** How a thing works stands in functions; what there is, in all kinds. */
function kindFactor({ kind, complete, doc, nested }: Definition, { intent }: Question): number {
  const explains = intent === 'explain' || intent === 'change'
  const byKind = {
    function: 1,
    class: 1,
    route: 1,
    table: 1,
    type: explains ? 0.7 : 1,
    value: explains ? 0.55 : 0.8,
    section: 0.75,
  }[kind]
  return byKind * (complete ? 1 : 0.95) * (doc === '' ? 0.92 : 1) * (nested ? 0.8 : 1)
}

/** Lines that no definition holds, such as configuration, prose and statements at the top of a file. */
function windowsOf(
  passage: LocalPassage,
  index: number,
  definitions: readonly Definition[],
  question: Question,
  subject: Subject,
): Candidate[] {
  const own = definitions.filter((definition) => definition.passage === passage)
  const lines = passage.content.split('\n')
  const windows: Candidate[] = []
  for (let first = 0; first < lines.length; first += windowLines / 2) {
    const startLine = passage.startLine + first
    const endLine = Math.min(passage.startLine + lines.length, startLine + windowLines) - 1
    if (own.some((definition) => definition.startLine <= endLine && definition.endLine >= startLine)) continue
    const text = lines.slice(first, first + windowLines).join('\n')
    const named = question.names.some((name) => name.length > 2 && text.includes(name)) ? 1 : 0
    const share = subject.shareOfLines(passage, startLine, endLine)
    if (share === 0 && named === 0) continue
    const score = (1.6 * share + named + 0.4 * subject.share(passage.path)) * prior(passage, index, question)
    windows.push({ passage, definition: undefined, startLine, endLine, score })
    if (first + windowLines >= lines.length) break
  }
  return windows
}

function withoutOverlap(sorted: readonly Candidate[]): Candidate[] {
  const kept: Candidate[] = []
  for (const candidate of sorted) {
    if (kept.length >= mostCandidates && !candidate.leading) continue
    const overlaps = kept.some(
      (other) =>
        other.passage.path === candidate.passage.path &&
        other.startLine <= candidate.endLine &&
        other.endLine >= candidate.startLine,
    )
    if (!overlaps) kept.push(candidate)
  }
  return kept
}

/** Lines of a file that a passage holds; both ends included. */
export function linesOf(passage: LocalPassage, startLine: number, endLine: number): string[] {
  return passage.content.split('\n').slice(startLine - passage.startLine, endLine - passage.startLine + 1)
}

export function isProse(passage: LocalPassage): boolean {
  return /markdown|^mdx?$|^txt$|text|^rst$|adoc/.test(languageOf(passage))
}
