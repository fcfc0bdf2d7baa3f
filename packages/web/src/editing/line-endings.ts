export type LineEnding = '\n' | '\r\n'

/** The line ending most lines have: what a saved text is written with. */
export function lineEndingOf(text: string): LineEnding {
  const windows = text.split('\r\n').length - 1
  const all = text.split('\n').length - 1
  return windows > all / 2 ? '\r\n' : '\n'
}

/** The indentation a text uses already; two spaces where it has none. */
export function indentationOf(text: string): string {
  const counts = new Map<string, number>()
  // A thousand lines tell as much as all of them.
  for (const line of text.split('\n', 1_000)) {
    const [, indent = ''] = /^(\t| {2,8})\S/.exec(line) ?? []
    const unit = indent === '\t' ? '\t' : indent.length === 4 || indent.length === 8 ? '    ' : '  '
    if (indent !== '') counts.set(unit, (counts.get(unit) ?? 0) + 1)
  }
  const tabs = counts.get('\t') ?? 0
  const two = counts.get('  ') ?? 0
  const four = counts.get('    ') ?? 0
  if (tabs > two + four) return '\t'
  // Where two spaces are a level, four are the next one.
  return four > 0 && two < four / 8 ? '    ' : '  '
}
