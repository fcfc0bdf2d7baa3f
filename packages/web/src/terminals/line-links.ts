import type { PathResolver } from '../chat/places.ts'
import type { LineRange } from '../lib/line-range.ts'

export type LinkTarget = { kind: 'url'; url: string } | { kind: 'file'; path: string; lines: LineRange }

/** A part of a line of output that leads somewhere; `end` is exclusive. */
export interface LineLink {
  start: number
  end: number
  target: LinkTarget
}

const urls = /https?:\/\/[^\s"'<>`]+/g
/** Punctuation that ends the sentence around an address, or the colours of its brackets. */
const trailing = /[.,;:!?)\]}]+$/

/** `src/a.ts:12`, `src/a.ts:12:5`, `(src/a.ts:12:5)`, `file:///…/a.ts:12`, `src/a.ts(12,5)`. */
const places = /([^\s"'`<>()[\]{}]+?)(?::(\d{1,7})(?::\d{1,7})?|\((\d{1,7}),\d{1,7}\))(?!\w)/g

/** The addresses and the files with a line that a line of output names. Only files that are there become links. */
export function linksInLine(text: string, resolve: PathResolver, root: string): LineLink[] {
  const links: LineLink[] = []
  for (const match of text.matchAll(urls)) {
    const url = match[0].replace(trailing, '')
    links.push({ start: match.index, end: match.index + url.length, target: { kind: 'url', url } })
  }
  for (const match of text.matchAll(places)) {
    const start = match.index
    const end = start + match[0].length
    if (links.some((link) => start < link.end && link.start < end)) continue
    const path = resolve(insideRoot(match[1] ?? '', root))
    const line = Number(match[2] ?? match[3])
    if (path === null || line < 1) continue
    links.push({ start, end, target: { kind: 'file', path, lines: { start: line, end: line } } })
  }
  return links
}

function insideRoot(name: string, root: string): string {
  const path = name.replace(/^file:\/\//, '')
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
}

/** The port of an address of this machine, as programs in the workspace print it; null for any other address. */
export function localPort(url: string): number | null {
  if (!URL.canParse(url)) return null
  const { hostname, port, protocol } = new URL(url)
  const local = ['localhost', '127.0.0.1', '0.0.0.0', '[::1]', '[::]'].includes(hostname)
  if (!local) return null
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}
