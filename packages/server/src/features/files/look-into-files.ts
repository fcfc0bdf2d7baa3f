import { fileLimits } from '@atelier/contract/agent-files'
import { ignoredFolderNames } from '../../platform/archive/import-ignored.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'
import type { FilesStore } from './files-store.ts'
import { type LiveDirectory, translating } from './live-directory.ts'
import type { SearchFiles } from './search-files.ts'

export interface FileLine {
  path: string
  /** from 1 */
  line: number
  text: string
}

/**
 * What a model's tools see of a workspace: its directory where it runs, else the documents, which are what the directory
 * was. Only a pattern wakes a workspace: the engine that matches it safely is in there.
 */
export interface LookIntoFiles {
  /** Files below a folder in the order of their paths, without those that Git ignores; `''` is all. */
  list(
    scope: WorkspaceScope,
    options: { folder: string; limit: number },
  ): Promise<{ path: string; bytes: number }[]>
  /** Lines that a text or a pattern is in, in upper or lower case. */
  grep(
    scope: WorkspaceScope,
    asked: { query: string; path: string; regex: boolean; limit: number },
    signal: AbortSignal,
  ): Promise<{ matches: FileLine[]; truncated: boolean }>
}

/** Documents of one page of a search through them. */
const documentsAtOnce = 20

/** Characters of a line that are shown, as the agent shows them. */
const shownCharacters = 500

export function createLookIntoFiles(dependencies: {
  live: Pick<LiveDirectory, 'running'>
  search: SearchFiles
  store: Pick<FilesStore, 'list' | 'containing'>
}): LookIntoFiles {
  const { live, search, store } = dependencies
  return {
    async list(scope, { folder, limit }) {
      const client = live.running(scope.workspaceId)
      if (client !== undefined) return await translating(() => liveList(client, folder, limit))
      const prefix = folder === '' ? '' : `${folder}/`
      const { files } = await store.list(scope, { prefix, depth: fileLimits.depth, limit })
      return files
    },
    async grep(scope, asked, signal) {
      if (asked.regex || live.running(scope.workspaceId) !== undefined)
        return await search(scope, { ...asked, caseSensitive: false, wholeWord: false }, signal)
      return await documentLines(store, scope, asked, signal)
    },
  }
}

async function liveList(client: AgentClient, path: string, limit: number) {
  const files: { path: string; bytes: number }[] = []
  let after: string | undefined
  do {
    const page = await client.call('files.list', {
      path,
      depth: fileLimits.depth,
      gitignore: 'hide',
      closed: [...ignoredFolderNames],
      ...(after === undefined ? {} : { after }),
    })
    for (const { type, path: found, size: bytes } of page.entries)
      if (type === 'file') files.push({ path: found, bytes })
    after = page.next ?? undefined
  } while (after !== undefined && files.length < limit)
  return files.slice(0, limit)
}

async function documentLines(
  store: Pick<FilesStore, 'containing'>,
  scope: WorkspaceScope,
  { query, path, limit }: { query: string; path: string; limit: number },
  signal: AbortSignal,
) {
  const wanted = query.toLowerCase()
  const prefix = path === '' ? '' : `${path}/`
  const matches: FileLine[] = []
  let after = ''
  for (;;) {
    signal.throwIfAborted()
    const page = await store.containing(scope, { path, prefix, text: query, after, limit: documentsAtOnce })
    for (const document of page) {
      for (const [index, text] of document.text.split('\n').entries()) {
        if (!text.toLowerCase().includes(wanted)) continue
        if (matches.length === limit) return { matches, truncated: true }
        matches.push({ path: document.path, line: index + 1, text: text.slice(0, shownCharacters) })
      }
    }
    const last = page.at(-1)
    if (last === undefined || page.length < documentsAtOnce) return { matches, truncated: false }
    after = last.path
  }
}
