import { formatLineRange, type LineRange, parseLineRange } from '../lib/line-range.ts'
import { formatPreviewPlace, type PreviewPlace, parsePreviewPlace } from '../previews/preview-place.ts'

/** Every panel has an address; `code` is the open file alone, which on a narrow screen is a page of its own. */
export const panels = ['files', 'search', 'sandbox', 'code', 'terminal', 'chat', 'settings'] as const
export type Panel = (typeof panels)[number]

/** What a workspace's address says. */
export interface IdeLocation {
  workspaceId: string
  panel: Panel
  /** what the middle shows: a file's path, a scratch tab's id, a program's page, or nothing */
  file: string | null
  scratch: string | null
  preview: PreviewPlace | null
  lines: LineRange | null
  /** words in the search panel */
  query: string
  /** id of the conversation that is shown; null for one that begins */
  chat: string | null
}

/** Reads an address of the form `/w/<workspace>/<panel>?file=&scratch=&preview=&q=&chat=#L1-2`; null for any other. */
export function parseIdeLocation(pathname: string, search: string, hash: string): IdeLocation | null {
  const match = /^\/w\/([^/]+)(?:\/([a-z]+))?\/?$/.exec(pathname)
  if (match === null) return null
  const panel = match[2] ?? 'files'
  if (!isPanel(panel)) return null
  const query = new URLSearchParams(search)
  return {
    workspaceId: decodeURIComponent(match[1] ?? ''),
    panel,
    file: query.get('file') || null,
    scratch: query.get('scratch') || null,
    preview: parsePreviewPlace(query.get('preview')),
    lines: parseLineRange(hash),
    query: query.get('q') ?? '',
    chat: query.get('chat') || null,
  }
}

export function ideHref(location: Partial<IdeLocation> & { workspaceId: string }): string {
  const { workspaceId, panel = 'files', file, scratch, preview, lines, query, chat } = location
  const search = new URLSearchParams()
  if (file) search.set('file', file)
  if (scratch) search.set('scratch', scratch)
  if (preview) search.set('preview', formatPreviewPlace(preview))
  if (query) search.set('q', query)
  if (chat) search.set('chat', chat)
  // A slash is allowed in a query and reads better than %2F.
  const text = search.toString().replaceAll('%2F', '/')
  const hash = lines ? `#${formatLineRange(lines)}` : ''
  return `/w/${encodeURIComponent(workspaceId)}/${panel}${text === '' ? '' : `?${text}`}${hash}`
}

function isPanel(name: string): name is Panel {
  return (panels as readonly string[]).includes(name)
}
