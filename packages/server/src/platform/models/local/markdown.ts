import { shorten } from './observations.ts'
import type { Definition } from './outline.ts'
import type { LocalPassage } from './passage.ts'
import type { Candidate } from './ranking.ts'

/** Name and first sentence, or the signature where the author wrote nothing. */
export function describe({ name, doc, signature, kind }: Definition): string {
  if (kind === 'section') return `**${name}**${doc === '' ? '' : ` – ${firstSentence(doc)}`}`
  return doc === '' ? `\`${oneLine(signature)}\`` : `\`${name}\` – ${firstSentence(doc)}`
}

export function firstSentence(text: string): string {
  const flat = text.replace(/\s+/g, ' ')
  const end = /[.!?](?=\s+[\p{Lu}`*])/u.exec(flat)
  return shorten(end === null ? flat : flat.slice(0, end.index + 1), 160)
}

export function kindName({ kind, signature }: Definition): string {
  if (kind === 'value') return 'defined'
  if (kind !== 'type') return kind
  return /\b(interface|enum|struct|trait)\b/.exec(signature)?.[1] ?? 'type'
}

export function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`**${title}**\n${lines.join('\n')}`]
}

/** An image in somebody's comment would be loaded by whoever reads the answer. */
export function quoted(text: string): string {
  return shorten(text, 700)
    .replace(/!\[/g, '[')
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')
}

export function cite({ passage, startLine, endLine }: Candidate): string {
  return citeRange(passage.path, startLine, endLine)
}

export function citeDefinition({ passage, startLine, endLine }: Definition): string {
  return citeRange(passage.path, startLine, endLine)
}

export function citeRange(path: string, startLine: number, endLine: number): string {
  return `[${path}:${startLine}-${endLine}]`
}

export function citeLine(path: string, line: number): string {
  return citeRange(path, line, line)
}

export function oneLine(text: string): string {
  return shorten(text.replace(/`/g, "'").replace(/\s+/g, ' ').trim(), 110)
}

/** `Session.create` and `session.ts#create` -> `create`; a file keeps its name. */
export function lastPart(name: string): string {
  return name.split(/[.:#]+/).at(-1) ?? name
}

export function filesOf(passages: readonly LocalPassage[]): string {
  const paths = [...new Set(passages.map((passage) => passage.path))]
  const named = paths.slice(0, 4).map((path) => `\`${path}\``)
  return paths.length > 4 ? `${named.join(', ')} and ${paths.length - 4} more` : named.join(', ')
}

export function orList(items: readonly string[]): string {
  return items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`
}

export function join(...parts: string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}
