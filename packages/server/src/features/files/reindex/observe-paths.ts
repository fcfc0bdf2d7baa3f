import type { AgentFileEntry } from '@atelier/contract/agent-files'
import { ignoredAt, ignoredFolderNames } from '../../../platform/archive/import-ignored.ts'
import type { AgentClient } from '../../../platform/runtime/agent-client.ts'
import { AgentError } from '../../../platform/runtime/agent-error.ts'

/** A file that search should know, as it is on disk. */
export interface ObservedFile {
  path: string
  size: number
  revision: string
}

/** What is on disk at and below some paths, as far as search is concerned with it. */
export interface Observation {
  files: ObservedFile[]
  /** paths with nothing for search in their place: gone, ignored, a link… */
  absent: string[]
  /** paths that are directories now */
  directories: string[]
}

/** Paths looked up at once: the agent answers them side by side. */
const lookUpsAtOnce = 8

/** Looks at changed paths on disk; a directory is looked at with everything in it. Throws AgentError. */
export async function observePaths(
  client: AgentClient,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Observation> {
  const seen: Observation = { files: [], absent: [], directories: [] }
  const present = await presentAt(client, paths, signal)
  const files: string[] = []
  for (const path of paths) {
    const type = present.get(path)
    if (type === 'directory') seen.directories.push(path)
    else if (type === 'file' && ignoredAt(path) === null) files.push(path)
    else seen.absent.push(path)
  }
  await inParallel(files, lookUpsAtOnce, async (path) => {
    const found = await revisionAt(client, path, signal)
    if (found) seen.files.push(found)
    else seen.absent.push(path)
  })
  for (const path of topmost(seen.directories)) {
    for await (const page of listFiles(client, path, signal)) seen.files.push(...page)
  }
  return { ...seen, files: [...new Map(seen.files.map((file) => [file.path, file])).values()] }
}

/** The files below a directory that search should know, a page at a time; none where there is no such directory. */
export async function* listFiles(
  client: AgentClient,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<ObservedFile[]> {
  let after: string | undefined
  do {
    const page = await listPage(client, { path, after, signal })
    if (page === null) return
    yield page.entries.flatMap(({ path: file, size, revision }) =>
      revision === undefined || ignoredAt(file) !== null ? [] : [{ path: file, size, revision }],
    )
    after = page.next ?? undefined
  } while (after !== undefined)
}

async function listPage(
  client: AgentClient,
  { path, after, signal }: { path: string; after: string | undefined; signal: AbortSignal },
): Promise<{ entries: AgentFileEntry[]; next: string | null } | null> {
  try {
    return await client.call(
      'files.list',
      {
        path,
        depth: 64,
        gitignore: 'hide',
        closed: [...ignoredFolderNames],
        revisions: true,
        ...(after === undefined ? {} : { after }),
      },
      // Reading every content of a page takes as long as the disk does.
      { signal, timeoutMs: 300_000 },
    )
  } catch (error) {
    if (error instanceof AgentError && vanished.has(error.code)) return null
    throw error
  }
}

/** The kind of what is at each path; what `.gitignore` names and what is not there is left out. */
async function presentAt(
  client: AgentClient,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, AgentFileEntry['type']>> {
  const wanted = new Set(paths)
  const present = new Map<string, AgentFileEntry['type']>()
  const parents = [...new Set(paths.map(parentOf))]
  await inParallel(parents, lookUpsAtOnce, async (parent) => {
    let after: string | undefined
    do {
      const page = await listNames(client, { parent, after, signal })
      for (const { path, type } of page.entries) if (wanted.has(path)) present.set(path, type)
      after = page.next ?? undefined
    } while (after !== undefined)
  })
  return present
}

async function listNames(
  client: AgentClient,
  { parent, after, signal }: { parent: string; after: string | undefined; signal: AbortSignal },
): Promise<{ entries: AgentFileEntry[]; next: string | null }> {
  try {
    const params = { path: parent, gitignore: 'hide' as const, ...(after === undefined ? {} : { after }) }
    return await client.call('files.list', params, { signal })
  } catch (error) {
    if (error instanceof AgentError && vanished.has(error.code)) return { entries: [], next: null }
    throw error
  }
}

async function revisionAt(
  client: AgentClient,
  path: string,
  signal: AbortSignal,
): Promise<ObservedFile | null> {
  try {
    const { size, revision } = await client.call(
      'files.stat',
      { path, revision: true },
      { signal, timeoutMs: 120_000 },
    )
    return revision === undefined ? null : { path, size, revision }
  } catch (error) {
    if (error instanceof AgentError && vanished.has(error.code)) return null
    throw error
  }
}

/** What becomes of a path between two looks at it. */
export const vanished: ReadonlySet<string> = new Set([
  'NOT_FOUND',
  'NOT_A_FILE',
  'NOT_A_DIRECTORY',
  'LINK_REFUSED',
  'PERMISSION',
])

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** Those that lie in none of the others. */
function topmost(paths: readonly string[]): string[] {
  const all = new Set(paths)
  return paths.filter((path) => {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      if (all.has(path.slice(0, slash))) return false
    }
    return true
  })
}

async function inParallel<Item>(
  items: readonly Item[],
  width: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: Math.min(width, items.length) }, async () => {
      for (const item of queue) await act(item)
    }),
  )
}
