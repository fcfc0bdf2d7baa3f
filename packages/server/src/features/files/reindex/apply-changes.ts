import type { IngestedFile, IngestTotals } from '@atelier/contract'
import type { WorkspaceScope } from '../../../platform/identity/workspace-scope.ts'
import type { AgentClient } from '../../../platform/runtime/agent-client.ts'
import { AgentError } from '../../../platform/runtime/agent-error.ts'
import { openFile, readWhole } from '../read-file-call.ts'
import { type ObservedFile, observePaths, vanished } from './observe-paths.ts'
import { planChanges } from './plan-changes.ts'
import type { FileToIndex, SearchDocuments } from './search-documents.ts'

/** Documents removed in one transaction. */
const removedAtOnce = 500

export interface IndexRun {
  scope: WorkspaceScope
  client: AgentClient
  documents: SearchDocuments
  signal: AbortSignal
}

/** Makes the documents at and below `paths` like what is on disk there. Throws AgentError, and what the documents throw. */
export async function applyChanges(run: IndexRun, paths: readonly string[]): Promise<void> {
  const { scope, client, documents, signal } = run
  const seen = await observePaths(client, paths, signal)
  const plan = planChanges(seen, {
    at: await documents.at(scope, [...new Set([...paths, ...seen.files.map(({ path }) => path)])]),
    below: await documents.below(scope, paths),
  })
  for (const { from, to } of plan.rename) {
    signal.throwIfAborted()
    // Gone since the look: then the content is read after all.
    if (!(await documents.rename(scope, from, to)))
      plan.index.push(...seen.files.filter(({ path }) => path === to))
  }
  await indexFiles(run, plan.index)
  await removeDocuments(run, plan.remove)
}

/** Reads files of the directory and hands them to search; one that has vanished since is left out. */
export async function indexFiles(
  { scope, client, documents, signal }: IndexRun,
  files: readonly ObservedFile[],
  onProgress?: (progress: { done: number }) => void,
): Promise<{ files: IngestedFile[]; totals: IngestTotals } | null> {
  if (files.length === 0) return null
  const source = contents(client, files, { documents, signal })
  return await documents.ingest(scope, source, { signal, ...(onProgress ? { onProgress } : {}) })
}

export async function removeDocuments(
  { scope, documents, signal }: IndexRun,
  paths: readonly string[],
): Promise<void> {
  for (let from = 0; from < paths.length; from += removedAtOnce) {
    signal.throwIfAborted()
    await documents.removeAll(scope, paths.slice(from, from + removedAtOnce))
  }
}

/** The next file is read while the one before is indexed. */
async function* contents(
  client: AgentClient,
  files: readonly ObservedFile[],
  { documents, signal }: Pick<IndexRun, 'documents' | 'signal'>,
): AsyncGenerator<FileToIndex> {
  const read = (file: ObservedFile | undefined) => {
    const reading =
      file === undefined ? Promise.resolve(null) : contentOf(client, file, { documents, signal })
    // Its failure is met when its turn comes, or not at all.
    reading.catch(() => undefined)
    return reading
  }
  let next = read(files[0])
  for (let at = 0; at < files.length; at += 1) {
    const current = await next
    next = read(files[at + 1])
    if (current !== null) yield current
  }
}

async function contentOf(
  client: AgentClient,
  { path, size, revision }: ObservedFile,
  { documents, signal }: Pick<IndexRun, 'documents' | 'signal'>,
): Promise<FileToIndex | null> {
  signal.throwIfAborted()
  if (!documents.readsContent(path, size)) return { path, size, contentSha256: revision }
  try {
    return { path, bytes: await readWhole(await openFile(client, { path, maxSize: size + growth }, signal)) }
  } catch (error) {
    // Whatever it has become is a change of its own, and is told as one.
    if (error instanceof AgentError && (vanished.has(error.code) || changing.has(error.code))) return null
    throw error
  }
}

/** Bytes that a file may have grown by since it was looked at. */
const growth = 1024 * 1024

const changing: ReadonlySet<string> = new Set(['CONFLICT', 'TOO_LARGE'])
