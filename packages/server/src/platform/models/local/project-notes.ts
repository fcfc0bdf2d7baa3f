import type { LocalPassage } from './passage.ts'

/** A quotation with its place. */
export interface Note {
  text: string
  path: string
  startLine: number
  endLine: number
}

/** What a project says about itself: the description in its manifest and the first paragraphs of its readme. */
export function projectNotes(passages: readonly LocalPassage[]): Note[] {
  const readme = passages.find((passage) => /(^|\/)readme\b/i.test(passage.path))
  const prose = readme ?? passages.find((passage) => /\.(md|mdx|rst|txt|adoc)$/i.test(passage.path))
  return [...passages.flatMap(descriptionIn), ...(prose === undefined ? [] : firstParagraphs(prose))]
}

const mostParagraphs = 2
/** Shorter ones are captions and badges. */
const leastParagraph = 50

function firstParagraphs(passage: LocalPassage): Note[] {
  const notes: Note[] = []
  let lines: string[] = []
  let start = 0
  const all = passage.content.split('\n')
  let fenced = false
  for (const [index, line] of [...all, ''].entries()) {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced
    if (!fenced && isProseLine(line)) {
      if (lines.length === 0) start = index
      lines.push(line.trim())
      continue
    }
    const text = lines.join(' ')
    if (isProse(text)) {
      notes.push({
        text,
        path: passage.path,
        startLine: passage.startLine + start,
        endLine: passage.startLine + index - 1,
      })
    }
    if (notes.length === mostParagraphs) break
    lines = []
  }
  return notes
}

function isProseLine(line: string): boolean {
  return line.trim() !== '' && !/^\s*(#|<|\[!|!\[|\||[-*+]\s|\d+\.\s|>|={3}|-{3}|\[[^\]]*\]:)/.test(line)
}

/** Badges and attributes of tags that go over several lines look like prose line by line. */
function isProse(text: string): boolean {
  return (
    text.length >= leastParagraph &&
    !/badge|\]\(https?:|\b(src|href|alt|width)=|<\w+/.test(text.slice(0, 200))
  )
}

/** The description in a package manifest. */
function descriptionIn(passage: LocalPassage): Note[] {
  if (!/(package\.json|pyproject\.toml|cargo\.toml|composer\.json)$/i.test(passage.path)) return []
  for (const [index, line] of passage.content.split('\n').entries()) {
    const text = /^\s*"?description"?\s*[:=]\s*"(.{8,300}?)"/.exec(line)?.[1]
    const place = passage.startLine + index
    if (text !== undefined) return [{ text, path: passage.path, startLine: place, endLine: place }]
  }
  return []
}
