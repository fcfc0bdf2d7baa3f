/** Where the lines of a text begin and how much they weigh; all line numbers here are zero-based. */
export interface LineTable {
  /** number of lines; a final line break does not start another line */
  readonly count: number
  /** offset of the first character of a line, in UTF-16 units; `lineStart(count)` is the length of the text */
  lineStart(line: number): number
  /** non-whitespace characters in lines `from` (included) to `to` (excluded) */
  weight(from: number, to: number): number
  isBlank(line: number): boolean
}

/**
 * The unit of size everywhere in chunking is the non-whitespace character, after cAST (arXiv 2506.15655): it makes
 * chunks of the same content equal whatever the indentation.
 */
export function createLineTable(text: string): LineTable {
  const starts = [0]
  const weights = [0]
  let weight = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 10) {
      weights.push(weight)
      starts.push(at + 1)
    } else if (code > 32 && code !== 0xa0) {
      weight += 1
    }
  }
  if (starts.at(-1) !== text.length) {
    weights.push(weight)
    starts.push(text.length)
  }
  const weightBefore = (line: number) => weights[line] ?? weight
  return {
    count: starts.length - 1,
    lineStart: (line) => starts[line] ?? text.length,
    weight: (from, to) => weightBefore(to) - weightBefore(from),
    isBlank: (line) => weightBefore(line + 1) === weightBefore(line),
  }
}
