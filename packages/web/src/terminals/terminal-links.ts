import type { IBuffer, ILink, ILinkProvider, Terminal } from '@xterm/xterm'
import { type LineLink, type LinkTarget, linksInLine } from './line-links.ts'

/** Rows of one line of output that are searched: a line without an end must not stop the page. */
const maxRows = 32

interface Cell {
  x: number
  y: number
}

/** Makes the addresses and files that output names clickable. */
export function createLinkProvider(options: {
  terminal: Terminal
  root: string
  resolve(name: string): string | null
  open(target: LinkTarget): void
}): ILinkProvider {
  const { terminal, root, resolve, open } = options
  return {
    provideLinks(row, callback) {
      const { text, cells } = readLine(terminal.buffer.active, row - 1)
      const links = linksInLine(text, resolve, root).map((link) => toLink(link, cells, open))
      callback(links.length > 0 ? links : undefined)
    },
  }
}

function toLink(
  { start, end, target }: LineLink,
  cells: readonly Cell[],
  open: (target: LinkTarget) => void,
) {
  const first = cells[start] ?? { x: 1, y: 1 }
  const last = cells[end - 1] ?? first
  const link: ILink = {
    text: target.kind === 'url' ? target.url : target.path,
    range: { start: first, end: last },
    activate: () => open(target),
  }
  return link
}

/** The whole line of output that a row is part of, and where on the screen each of its characters is. */
function readLine(buffer: IBuffer, row: number): { text: string; cells: Cell[] } {
  let first = row
  while (first > 0 && row - first < maxRows && buffer.getLine(first)?.isWrapped) first -= 1
  let text = ''
  const cells: Cell[] = []
  for (let y = first; y < first + maxRows; y += 1) {
    const line = buffer.getLine(y)
    if (line === undefined || (y > first && !line.isWrapped)) break
    for (let x = 0; x < line.length; x += 1) {
      const cell = line.getCell(x)
      // The second half of a wide character has no width of its own.
      if (cell === undefined || cell.getWidth() === 0) continue
      const characters = cell.getChars() || ' '
      text += characters
      for (let index = 0; index < characters.length; index += 1) cells.push({ x: x + 1, y: y + 1 })
    }
  }
  return { text, cells }
}
