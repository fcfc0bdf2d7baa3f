import type { ChunkLimits, LineSpan } from './chunk.ts'
import type { LineTable } from './line-table.ts'

/** Cuts lines `from` to `to` (zero-based, end excluded) of a text without usable structure, at blank lines where it can. */
export function spansByLine(
  lines: LineTable,
  range: { from: number; to: number; header: string },
  limits: ChunkLimits,
): LineSpan[] {
  const spans: LineSpan[] = []
  let from = range.from
  while (from < range.to) {
    const to = endOfSpan(lines, from, range.to, limits)
    spans.push({ from, to, symbols: [], header: range.header })
    from = to
  }
  return spans
}

/** The last cut before the limit: after a blank line if one lies in the second half, else the last line that fits. */
function endOfSpan(lines: LineTable, from: number, limit: number, { maxWeight }: ChunkLimits): number {
  let to = from + 1
  let afterBlank = 0
  while (to < limit && lines.weight(from, to + 1) <= maxWeight) {
    to += 1
    if (lines.isBlank(to - 1) && lines.weight(from, to) > maxWeight / 2) afterBlank = to
  }
  if (to === limit) return limit
  return afterBlank > 0 ? afterBlank : to
}

/** Cuts Markdown at its headings; the header of a chunk is the chain of headings above it. */
export function spansByHeading(text: string, lines: LineTable, limits: ChunkLimits): LineSpan[] {
  const sections = markdownSections(text, lines)
  return sections.flatMap((section, index) => {
    const to = sections[index + 1]?.from ?? lines.count
    const spans = spansByLine(lines, { from: section.from, to, header: section.header }, limits)
    if (spans[0] !== undefined && section.title !== null) spans[0].symbols = [section.title]
    return spans
  })
}

interface Section {
  from: number
  title: string | null
  header: string
}

function markdownSections(text: string, lines: LineTable): Section[] {
  const sections: Section[] = [{ from: 0, title: null, header: '' }]
  const trail: { level: number; title: string }[] = []
  let fence: string | null = null
  for (let line = 0; line < lines.count; line += 1) {
    const content = text.slice(lines.lineStart(line), lines.lineStart(line + 1)).trimEnd()
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(content)?.[1]
    if (mark !== undefined) fence = fenceAfter(fence, mark)
    const heading = fence === null ? /^ {0,3}(#{1,6})[ \t]+(.+?)[ \t#]*$/.exec(content) : null
    if (heading === null) continue
    const [, marks = '', title = ''] = heading
    while ((trail.at(-1)?.level ?? 0) >= marks.length) trail.pop()
    const header = trail.map((above) => above.title).join(' › ')
    trail.push({ level: marks.length, title })
    if (line === 0) sections.pop()
    sections.push({ from: line, title, header })
  }
  return sections
}

/** A fence ends with the same character, at least as often. */
function fenceAfter(open: string | null, mark: string): string | null {
  if (open === null) return mark
  return mark[0] === open[0] && mark.length >= open.length ? null : open
}
