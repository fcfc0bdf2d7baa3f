import { type DefinitionKind, longestLine, matchLine } from './definition-patterns.ts'
import type { LocalPassage } from './passage.ts'

export type { DefinitionKind }

/** A named piece of a passage. Lines are of the file, one-based, both ends included. */
export interface Definition {
  kind: DefinitionKind
  name: string
  passage: LocalPassage
  /** first line of its comment, or of itself */
  startLine: number
  /** line of its name */
  line: number
  endLine: number
  /** what stands before its body, on one line */
  signature: string
  /** what its author wrote about it, markers removed; empty when nothing */
  doc: string
  /** false: the passage ends before it does */
  complete: boolean
  exported: boolean
  /** stands inside a function */
  nested: boolean
}

/** The definitions in a passage, in order. */
export function definitionsIn(passage: LocalPassage): Definition[] {
  const lines = passage.content.split('\n')
  const language = languageOf(passage)
  const shapes = lines.map(shapeOf)
  const found: Definition[] = []
  let functionsEnd = 0
  for (const [index, line] of lines.entries()) {
    const match = matchLine(line, language)
    if (match === undefined) continue
    const first = commentStart(lines, index, language)
    const last = endOf({ lines, shapes, start: index, language, kind: match.kind })
    const nested = index < functionsEnd
    if (match.kind === 'function') functionsEnd = Math.max(functionsEnd, last.index)
    found.push({
      ...match,
      passage,
      startLine: passage.startLine + first,
      line: passage.startLine + index,
      endLine: passage.startLine + last.index,
      signature: signatureOf(lines.slice(index, last.index + 1)),
      doc: cleanComment(docLines(lines, first, index, last.index, language)),
      complete: last.found,
      exported: /^\s*(export|pub|public)\b|^\s*(module\.)?exports\b/.test(line) || /^[A-Z]/.test(match.name),
      nested,
    })
  }
  return found
}

/** Most lines of a signature that are joined. */
const mostSignatureLines = 6

function signatureOf(lines: readonly string[]): string {
  const end = lines.findIndex((line) => /([{;:]|=>|=)\s*$/.test(line))
  const head = lines.slice(0, Math.min(end === -1 ? 1 : end + 1, mostSignatureLines))
  return head
    .join(' ')
    .replace(/\s+/g, ' ')
    .replace(/([([]) | ([)\]])/g, '$1$2')
    .replace(/\s*(=>\s*)?(=\s*)?[{;:=]?\s*$/, '')
    .trim()
}

export function languageOf({ path, language }: LocalPassage): string {
  return (language ?? path.split('.').at(-1) ?? '').toLowerCase()
}

const commentLine = /^\s*(\/\/|\/\*|\*|#(?!!|\[|include|define|if|endif)|--\s|;;|"""|''')/
const decoratorLine = /^\s*(@[\w.]+|#\[)/

/** Index of the first line of the comment right above a definition. */
function commentStart(lines: readonly string[], index: number, language: string): number {
  if (/markdown|^md/.test(language)) return index
  let first = index
  while (
    first > 0 &&
    (commentLine.test(lines[first - 1] ?? '') || decoratorLine.test(lines[first - 1] ?? ''))
  )
    first -= 1
  return first
}

function docLines(
  lines: readonly string[],
  first: number,
  index: number,
  last: number,
  language: string,
): string[] {
  const above = lines.slice(first, index).filter((line) => !decoratorLine.test(line))
  if (/markdown|^md/.test(language)) return lines.slice(index + 1, last + 1)
  if (above.length > 0 || !/python|^py/.test(language)) return above
  return docstring(lines.slice(index + 1, last + 1))
}

function docstring(body: readonly string[]): string[] {
  const opening = body.findIndex((line) => line.trim() !== '')
  const quote = /^\s*[rbuf]*("""|''')/.exec(body[opening] ?? '')?.[1]
  if (quote === undefined) return []
  const closing = body.findIndex((line, at) =>
    at === opening ? line.split(quote).length > 2 : at > opening && line.includes(quote),
  )
  return body.slice(opening, closing === -1 ? opening + 1 : closing + 1)
}

/** Comment text without markers, tags and code; paragraphs kept. */
export function cleanComment(lines: readonly string[]): string {
  return lines
    .map((line) =>
      line
        .replace(/^\s*(\/\*\*?|\*\/|\*|\/\/[/!]?|#+|--|;;+)\s?/, '')
        .replace(/\*\/\s*$/, '')
        .replace(/^\s*[rbuf]*("""|''')|("""|''')\s*$/g, '')
        .trim(),
    )
    .map((line) => (isNoise(line) ? '' : line))
    .join('\n')
    .replace(/\n@\w+[\s\S]*$/, '')
    .replace(/^@\w+[\s\S]*$/, '')
    .replace(/```[\s\S]*?(```|$)/g, '')
    .replace(/\{@link(?:code|plain)?\s+([^}|]+)[^}]*\}/g, '`$1`')
    .replace(/<\/?(p|code|b|i|em|strong|br)\s*\/?>/g, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** Rules, directives to tools and licences say nothing about the code. */
function isNoise(line: string): boolean {
  return /^[-=*_~\s]{3,}$|^<reference\b|^(eslint|biome-ignore|prettier|istanbul|c8 |v8 |@ts-|ts-|noqa|pylint|pragma)|^(spdx-|copyright|\(c\) )|^!/i.test(
    line,
  )
}

interface End {
  index: number
  /** false: the passage ends first */
  found: boolean
}

/** The last line of what begins on a line, or of the passage. */
function endOf(options: {
  lines: readonly string[]
  shapes: readonly LineShape[]
  start: number
  language: string
  kind: DefinitionKind
}): End {
  const { lines, shapes, start, language, kind } = options
  if (kind === 'section') return endOfSection(lines, start)
  if (/python|^py|yaml|^yml/.test(language)) return endByIndent(lines, start)
  if (/ruby|^rb/.test(language)) return endByWord(lines, start)
  return endByBrackets(shapes, start)
}

function endOfSection(lines: readonly string[], start: number): End {
  const next = lines.findIndex((line, index) => index > start && /^#{1,6}\s/.test(line))
  return next === -1
    ? { index: lastFilled(lines, lines.length - 1), found: false }
    : { index: lastFilled(lines, next - 1), found: true }
}

function endByIndent(lines: readonly string[], start: number): End {
  const indent = indentOf(lines[start] ?? '')
  const next = lines.findIndex(
    (line, index) =>
      index > start && line.trim() !== '' && indentOf(line) <= indent && !/^\s*[)\]}]/.test(line),
  )
  return next === -1
    ? { index: lastFilled(lines, lines.length - 1), found: false }
    : { index: lastFilled(lines, next - 1), found: true }
}

function endByWord(lines: readonly string[], start: number): End {
  const indent = indentOf(lines[start] ?? '')
  const end = lines.findIndex(
    (line, index) => index > start && /^\s*end\b/.test(line) && indentOf(line) === indent,
  )
  return end === -1 ? { index: lines.length - 1, found: false } : { index: end, found: true }
}

/** How far the end of a definition is looked for. */
const longestDefinition = 1000

/** What a line does to the brackets around it, and whether its statement goes on after it. */
interface LineShape {
  depth: number
  goesOn: boolean
  continues: boolean
}

function shapeOf(line: string): LineShape {
  const code = withoutLiterals(line.slice(0, longestLine))
  let depth = 0
  for (const character of code) {
    if ('([{'.includes(character)) depth += 1
    else if (')]}'.includes(character)) depth -= 1
  }
  return {
    depth,
    goesOn: /([=|&(?:+]|=>|\b(extends|implements|return))\s*$/.test(code),
    continues: /^\s*([|&.?:{]|=>|extends\b|implements\b|where\b|->)/.test(line),
  }
}

/** A statement ends where its brackets are closed and neither its line nor the next one goes on. */
function endByBrackets(shapes: readonly LineShape[], start: number): End {
  const last = Math.min(shapes.length, start + longestDefinition) - 1
  let depth = 0
  for (let index = start; index <= last; index += 1) {
    const shape = shapes[index]
    depth += shape?.depth ?? 0
    if (depth <= 0 && !shape?.goesOn && !shapes[index + 1]?.continues) return { index, found: true }
  }
  return { index: last, found: false }
}

function withoutLiterals(line: string): string {
  return line
    .replace(/\\./g, '')
    .replace(/'[^']*'|"[^"]*"|`[^`]*`/g, '""')
    .replace(/\/\/.*$|\/\*.*?\*\/|^\s*\*.*$/g, '')
    .replace(/\s+$/, '')
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

function lastFilled(lines: readonly string[], from: number): number {
  let index = from
  while (index > 0 && (lines[index] ?? '').trim() === '') index -= 1
  return index
}
