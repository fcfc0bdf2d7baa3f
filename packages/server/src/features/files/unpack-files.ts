import { createHash } from 'node:crypto'
import { ignoredFolderNames } from '../../platform/archive/import-ignored.ts'
import type { SourceFile } from '../../platform/archive/import-source.ts'
import { packTarGz } from '../../platform/archive/pack-tar.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'

/** What one unpacking may hold. The ratio is no matter: what we pack ourselves has been judged where it came from. */
export const fillLimits = { entries: 200_000, totalBytes: 4 * 1024 ** 3, ratio: 10_000 }

/** Milliseconds until an unpacking is given up. */
const unpackMilliseconds = 600_000

/**
 * Puts files into the directory of a workspace, all or none, replacing what is there under their names. A file that is
 * there with the same content is left alone, so that nothing is built or indexed anew because of it. Throws AgentError,
 * and what `files` throws.
 */
export async function unpackFiles(
  client: AgentClient,
  content: { files: AsyncIterable<SourceFile>; directories: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const present = await presentFiles(client, signal)
  const body = packTarGz({ ...content, files: changedOnly(content.files, present) })
  await client.call(
    'files.import',
    { format: 'tar.gz', existing: 'replace', caps: fillLimits },
    { body, signal, timeoutMs: unpackMilliseconds },
  )
}

interface Present {
  revision: string
  executable: boolean
}

async function* changedOnly(
  files: AsyncIterable<SourceFile>,
  present: ReadonlyMap<string, Present>,
): AsyncGenerator<SourceFile> {
  for await (const { path, bytes, executable: asked } of files) {
    const there = present.get(path)
    // A source that knows nothing of permissions leaves them as they are.
    const executable = asked ?? there?.executable ?? false
    const revision = createHash('sha256').update(bytes).digest('hex')
    if (there?.revision !== revision || there.executable !== executable) yield { path, bytes, executable }
  }
}

/** Every file outside the folders that imports leave out. */
async function presentFiles(client: AgentClient, signal: AbortSignal): Promise<Map<string, Present>> {
  const present = new Map<string, Present>()
  let after: string | undefined
  do {
    const page = await client.call(
      'files.list',
      {
        path: '',
        depth: 64,
        closed: [...ignoredFolderNames],
        revisions: true,
        ...(after === undefined ? {} : { after }),
      },
      { signal, timeoutMs: 300_000 },
    )
    for (const { path, revision, executable } of page.entries)
      if (revision !== undefined) present.set(path, { revision, executable })
    after = page.next ?? undefined
  } while (after !== undefined && present.size < fillLimits.entries)
  return present
}

/** The files that search should know: those no `.gitignore` names. */
export async function searchablePaths(client: AgentClient, signal: AbortSignal): Promise<Set<string>> {
  const paths = new Set<string>()
  let after: string | undefined
  do {
    const page = await client.call(
      'files.list',
      {
        path: '',
        depth: 64,
        gitignore: 'hide',
        closed: [...ignoredFolderNames],
        ...(after === undefined ? {} : { after }),
      },
      { signal },
    )
    for (const { path, type } of page.entries) if (type === 'file') paths.add(path)
    after = page.next ?? undefined
  } while (after !== undefined && paths.size < fillLimits.entries)
  return paths
}
