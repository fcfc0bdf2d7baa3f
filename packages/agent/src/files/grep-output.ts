import { GrepMatch } from '@atelier/contract/agent-files'
import * as z from 'zod'

/** Characters of a line that are shown, and how many of them stand before the match. */
const shownLength = 500
const shownBefore = 100

/** The part of ripgrep's `--json` output that is used; paths and lines that are not UTF-8 come as `bytes`. */
const RipgrepMatch = z.object({
  type: z.literal('match'),
  data: z.object({
    path: z.object({ text: z.string() }),
    lines: z.object({ text: z.string() }),
    line_number: z.int(),
    submatches: z.array(z.object({ start: z.int(), end: z.int() })).min(1),
  }),
})

export function matchFromRipgrep(line: string): GrepMatch | undefined {
  if (!line.startsWith('{"type":"match"')) return undefined
  const parsed = RipgrepMatch.safeParse(parseLine(line))
  if (!parsed.success) return undefined
  const { path, lines, line_number, submatches } = parsed.data.data
  const first = submatches[0]
  if (first === undefined) return undefined
  // Offsets count bytes of UTF-8; ours count characters.
  const bytes = Buffer.from(lines.text)
  const start = bytes.toString('utf8', 0, first.start).length
  const end = start + bytes.toString('utf8', first.start, first.end).length
  return shownMatch({ path: path.text.replace(/^\.\//, ''), line: line_number, text: lines.text, start, end })
}

export function matchFromScan(line: string): GrepMatch | undefined {
  const parsed = GrepMatch.safeParse(parseLine(line))
  return parsed.success ? parsed.data : undefined
}

/** The last line of a search that was stopped may be cut. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** `start` and `end` are offsets into `text`, a whole line. */
export function shownMatch(found: {
  path: string
  line: number
  text: string
  start: number
  end: number
}): GrepMatch {
  const text = found.text.replace(/\r?\n$/, '')
  const from = text.length <= shownLength ? 0 : Math.max(0, found.start - shownBefore)
  const shown = text.slice(from, from + shownLength)
  const length = Math.max(0, Math.min(found.end, from + shown.length, text.length) - found.start)
  return { path: found.path, line: found.line, column: found.start + 1, length, text: shown }
}
