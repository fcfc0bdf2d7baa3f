/**
 * Splits Markdown into top-level blocks whose joined text is the input. While an answer grows only its last block
 * changes, so that only it is parsed and drawn again: the blocks above it cannot move.
 * Text that defines links or footnotes stays whole, since a definition reaches into other blocks.
 */
export function splitMarkdownBlocks(text: string): string[] {
  if (definition.test(text)) return [text]
  const blocks: string[] = []
  let start = 0
  let offset = 0
  let fence: string | null = null
  let afterBlank = false
  let inList = false
  for (const line of text.split(/(?<=\n)/)) {
    const content = line.trimEnd()
    if (fence === null && afterBlank && /^\S/.test(content) && !(inList && listItem.test(content))) {
      blocks.push(text.slice(start, offset))
      start = offset
      inList = false
    }
    if (fence === null && start === offset) inList = listItem.test(content)
    fence = fenceAfter(fence, content)
    afterBlank = fence === null && content === ''
    offset += line.length
  }
  if (start < text.length) blocks.push(text.slice(start))
  return blocks
}

const definition = /^ {0,3}\[[^\]\n]+\]:\s/m
const listItem = /^(?:[-*+]|\d{1,9}[.)])(?:\s|$)/

/** The open fence after a line: null outside code. A fence closes with at least as many of its own characters. */
function fenceAfter(open: string | null, line: string): string | null {
  const mark = /^\s*(`{3,}|~{3,})(.*)$/.exec(line)
  const [, characters = '', rest = ''] = mark ?? []
  if (open === null)
    return mark !== null && !(characters[0] === '`' && rest.includes('`')) ? characters : null
  const closes = characters[0] === open[0] && characters.length >= open.length && rest.trim() === ''
  return closes ? null : open
}
