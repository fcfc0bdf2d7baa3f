import { cleanComment } from './outline.ts'
import type { LocalPassage } from './passage.ts'
import { type Candidate, linesOf } from './ranking.ts'

/** Something that stands in the code and can be said in words, with its line. */
export interface Observation {
  text: string
  line: number
}

const mostObservations = 6

/** What an author wrote between the lines of a definition and how it fails, in order. */
export function observationsIn(candidate: Candidate, relevance: (text: string) => number): Observation[] {
  const first = (candidate.definition?.line ?? candidate.startLine) + 1
  const lines = linesOf(candidate.passage, first, candidate.endLine)
  const found = [...comments(lines, first), ...failures(lines, first)]
  const best = found
    .map((observation) => ({ observation, score: relevance(observation.text) }))
    .sort((left, right) => right.score - left.score)
    .slice(0, mostObservations)
    .map(({ observation }) => observation)
  return best.sort((left, right) => left.line - right.line)
}

function comments(lines: readonly string[], firstLine: number): Observation[] {
  const found: Observation[] = []
  for (let index = 0; index < lines.length; index += 1) {
    if (!/^\s*(\/\/|#\s|\/\*\*?\s)/.test(lines[index] ?? '')) continue
    const start = index
    while (/^\s*(\/\/|#\s|\*)/.test(lines[index + 1] ?? '')) index += 1
    const text = cleanComment(lines.slice(start, index + 1)).replace(/\s+/g, ' ')
    if (isSentence(text)) found.push({ text: `“${shorten(text, 220)}”`, line: firstLine + start })
  }
  return found
}

/** Directives to tools and commented-out code say nothing to a reader. */
function isSentence(text: string): boolean {
  return (
    text.split(' ').length >= 3 &&
    !/^(eslint|biome|prettier|ts-|@ts|istanbul|c8|v8|noqa|type:|pylint|region|endregion|todo|fixme)/i.test(
      text,
    ) &&
    !/[;{}]\s*$|^\S+\(.*\)$/.test(text)
  )
}

function failures(lines: readonly string[], firstLine: number): Observation[] {
  return lines.flatMap((line, index) => {
    if (/^\s*(\/\/|\*|#)/.test(line)) return []
    const thrown = /\b(?:throw\s+(?:new\s+)?|raise\s+)([A-Z][\w.$]*)\s*\(/.exec(line)?.[1]
    if (thrown === undefined) return []
    // The message may stand on the next line.
    const message = /(['"`])(.{3,200}?)\1/.exec(
      `${line.slice(line.indexOf(thrown))} ${lines[index + 1] ?? ''}`,
    )?.[2]
    if (message === undefined && /^(Error|TypeError|Exception)$/.test(thrown)) return []
    const said = message === undefined ? '' : `: “${message}”`
    return [{ text: `fails with \`${thrown}\`${said}`, line: firstLine + index }]
  })
}

/** Names of what a definition calls, in order, those first that are defined in the passages. */
export function callsIn(candidate: Candidate, known: ReadonlySet<string>): string[] {
  const own = candidate.definition?.name
  const text = linesOf(
    candidate.passage,
    (candidate.definition?.line ?? candidate.startLine) + 1,
    candidate.endLine,
  )
    .filter((line) => !/^\s*(\/\/|\*|#)/.test(line))
    .join('\n')
  const called = [...text.matchAll(/(?<![\w$])([A-Za-z_$][\w$]{2,})\s*\(/g)].map((match) => match[1] ?? '')
  const names = [...new Set(called)].filter((name) => name !== own && !notCalls.test(name))
  return [
    ...names.filter((name) => known.has(name)),
    ...names.filter((name) => !known.has(name) && /[a-z][A-Z]|_/.test(name)),
  ]
}

const notCalls =
  /^(if|for|while|switch|catch|function|return|await|typeof|constructor|super|require|import|push|map|filter|forEach|find|slice|join|split|toString|then|has|get|set|keys|values|entries|String|Number|Boolean|Array|Object|Promise|Error|print|len|range|str|int)$/

export interface Mention {
  path: string
  line: number
  text: string
  /** an import or export: names it without using it */
  imported: boolean
}

/** Lines that have a name in them, comments apart; `defined` is left out. */
export function mentionsOf(name: string, passages: readonly LocalPassage[], defined?: Candidate): Mention[] {
  const pattern = new RegExp(`(?<![\\w$])${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w$])`)
  const mentions = new Map<string, Mention>()
  for (const passage of passages) {
    for (const [index, text] of passage.content.split('\n').entries()) {
      const line = passage.startLine + index
      if (!pattern.test(text) || /^\s*(\*|\/\/|#)/.test(text) || isInside(defined, passage, line)) continue
      const imported = /^\s*(import\b|export\s*[{*]|from\b|use\s)|\brequire\(/.test(text)
      mentions.set(`${passage.path}:${line}`, { path: passage.path, line, text: text.trim(), imported })
    }
  }
  return [...mentions.values()]
}

function isInside(candidate: Candidate | undefined, passage: LocalPassage, line: number): boolean {
  if (candidate === undefined || passage.path !== candidate.passage.path) return false
  return line >= candidate.startLine && line <= candidate.endLine
}

/** Cuts at a word, with an ellipsis. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most).replace(/\s+\S*$/, '')}…`
}
