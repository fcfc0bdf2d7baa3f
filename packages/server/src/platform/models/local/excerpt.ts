import { languageOf } from './outline.ts'
import { type Candidate, linesOf } from './ranking.ts'

/** Longest block of code in an answer: more is not read. */
const longestBlock = 22

/** The lines that matter, as a fenced block; what is left out is marked in the language's own comments. */
export function codeBlock(candidate: Candidate, relevance: (text: string) => number): string {
  const { passage, definition } = candidate
  const first = definition?.line ?? candidate.startLine
  const lines = trimmed(linesOf(passage, first, candidate.endLine))
  const language = languageOf(passage)
  const kept = lines.length <= longestBlock ? lines.map((_, index) => index) : decisive(lines, relevance)
  const indent = Math.min(...kept.map((index) => indentOf(lines[index] ?? '')).filter(Number.isFinite))
  const body: string[] = []
  let previous = -1
  for (const index of kept) {
    if (index > previous + 1) body.push(elision(lines, index, indent, language))
    body.push((lines[index] ?? '').slice(indent))
    previous = index
  }
  if (previous < lines.length - 1) body.push(elision(lines, lines.length, indent, language))
  const fence = body.some((line) => line.includes('```')) ? '````' : '```'
  return [`${fence}${language}`, ...body, fence].join('\n')
}

/** The beginning, the end, and the lines with most of the question in them, each with its neighbours. */
function decisive(lines: readonly string[], relevance: (text: string) => number): number[] {
  const opening = lines.findIndex((line) => /[{:]\s*$|=>\s*$/.test(line))
  const kept = new Set<number>(range(0, Math.min(opening === -1 ? 1 : opening, 5)))
  kept.add(lines.length - 1)
  const order = lines
    .map((line, index) => ({ index, score: lineScore(line, relevance) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score || left.index - right.index)
  for (const { index } of order) {
    const wanted = neighbours(lines, index).filter((at) => !kept.has(at))
    if (kept.size + wanted.length > longestBlock) break
    for (const at of wanted) kept.add(at)
  }
  fillGaps(kept, lines)
  return [...kept].filter((at) => at >= 0 && at < lines.length).sort((left, right) => left - right)
}

/** A line with the ones around it that say something. */
function neighbours(lines: readonly string[], index: number): number[] {
  return [index - 1, index, index + 1].filter((at) => at === index || /[\p{L}\p{N}]/u.test(lines[at] ?? ''))
}

function lineScore(line: string, relevance: (text: string) => number): number {
  const turning = /^\s*(return|throw|raise|yield|await|if|for|while|switch|match|case)\b/.test(line)
    ? 0.15
    : 0
  return relevance(line) + turning
}

/** A marker for one left-out line is longer than the line. */
function fillGaps(kept: Set<number>, lines: readonly string[]): void {
  for (let index = 1; index < lines.length - 1; index += 1) {
    if (!kept.has(index) && kept.has(index - 1) && kept.has(index + 1)) kept.add(index)
  }
}

function elision(lines: readonly string[], before: number, indent: number, language: string): string {
  const near = lines.slice(before).find((line) => line.trim() !== '') ?? ' '.repeat(indent)
  const depth = ' '.repeat(Math.max(0, near.search(/\S|$/) - indent))
  if (/python|^py|ruby|^rb|shell|bash|^sh|yaml|^yml|toml|docker/.test(language)) return `${depth}# …`
  if (/sql|lua|haskell/.test(language)) return `${depth}-- …`
  if (/html|xml|vue|svelte|markdown|^md/.test(language)) return `${depth}<!-- … -->`
  return /json|text|^txt/.test(language) ? `${depth}…` : `${depth}// …`
}

function trimmed(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== '')
  const last = lines.findLastIndex((line) => line.trim() !== '')
  return lines
    .slice(Math.max(0, first), last + 1)
    .map((line) => line.replace(/\s+$/, '').replaceAll('\t', '  '))
}

function indentOf(line: string): number {
  return line.trim() === '' ? Number.POSITIVE_INFINITY : line.length - line.trimStart().length
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, offset) => from + offset)
}
