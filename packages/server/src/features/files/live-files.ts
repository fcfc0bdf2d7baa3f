import { type DirectoryListing, type FileContent, maxFileContentBytes } from '@atelier/contract'
import type { AgentFileEntry } from '@atelier/contract/agent-files'
import { AppError } from '../../base/app-error.ts'
import { ignoredFolderNames } from '../../platform/archive/import-ignored.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'
import { AgentError } from '../../platform/runtime/agent-error.ts'
import { maxListedEntries } from './directory-listing.ts'
import type { Files, FileText, ReadRequest } from './files.ts'
import type { LiveDirectory } from './live-directory.ts'
import { translating } from './live-directory.ts'
import { type ListedFacts, liveListing } from './live-listing.ts'
import { conflictsIn } from './path-conflicts.ts'
import { openFile, readWhole } from './read-file-call.ts'

/** The directory of a workspace as a tree of files. `factsOf` says what search knows about listed files. */
export function createLiveFiles(dependencies: {
  live: LiveDirectory
  factsOf(scope: WorkspaceScope, paths: readonly string[]): Promise<ListedFacts>
  languageOf(path: string, text?: string): string | null
}): Files {
  const { live, factsOf, languageOf } = dependencies

  async function list(
    scope: WorkspaceScope,
    client: AgentClient,
    request: ReadRequest,
  ): Promise<DirectoryListing> {
    const entries = await listEntries(client, request)
    const files = entries.filter(({ type }) => type === 'file').map(({ path }) => path)
    return liveListing({
      path: request.path,
      entries,
      facts: await factsOf(scope, files),
      languageOf: (path) => languageOf(path),
    })
  }

  async function content(client: AgentClient, request: ReadRequest) {
    const opened = await openFile(client, { path: request.path, maxSize: maxFileContentBytes })
    const { revision, size, modifiedAt } = opened
    if (request.knownRevisions.includes(revision)) {
      opened.close()
      return { kind: 'unchanged', revision } as const
    }
    const { text, encoding } = encode(await readWhole(opened))
    return {
      kind: 'file',
      path: request.path,
      content: text,
      encoding,
      revision,
      size,
      modifiedAt: new Date(modifiedAt).toISOString(),
      language: languageOf(request.path, encoding === 'utf8' ? text : ''),
    } satisfies FileContent
  }

  return {
    read: (scope, request) =>
      translating(async () => {
        const client = await live.use(scope, 'reading files')
        if (request.path === '') return await list(scope, client, request)
        try {
          return await content(client, request)
        } catch (error) {
          if (!(error instanceof AgentError)) throw error
          if (error.code === 'TOO_LARGE') throw tooLarge(request.path, error)
          if (error.code !== 'NOT_A_FILE') throw error
          const { type } = await client.call('files.stat', { path: request.path })
          if (type !== 'directory') throw error
          return await list(scope, client, request)
        }
      }),
    readText: (scope, path) =>
      translating(async () => {
        const client = await live.use(scope, 'reading files')
        return await textAt(client, path, languageOf)
      }),
    refusePathConflicts: (scope, paths) =>
      translating(async () => {
        const conflict = await conflictsIn(await live.use(scope, 'importing files'), paths)
        if (conflict !== null) throw new AppError('CONFLICT', conflict)
      }),
  }
}

/** All entries the request asks for, one more than are shown at most. */
async function listEntries(
  client: AgentClient,
  { path, depth, glob, revisions }: ReadRequest,
): Promise<AgentFileEntry[]> {
  const entries: AgentFileEntry[] = []
  let after: string | undefined
  do {
    const page = await client.call('files.list', {
      path,
      depth,
      ...(glob === undefined ? {} : { glob }),
      gitignore: 'mark',
      closed: [...ignoredFolderNames],
      revisions: revisions ?? false,
      ...(after === undefined ? {} : { after }),
    })
    entries.push(...page.entries)
    after = page.next ?? undefined
  } while (after !== undefined && entries.length <= maxListedEntries)
  return entries
}

/** The text of a file, `null` where there is none or it is none. */
async function textAt(
  client: AgentClient,
  path: string,
  languageOf: (path: string, text?: string) => string | null,
): Promise<FileText | null> {
  try {
    const opened = await openFile(client, { path, maxSize: maxFileContentBytes })
    const { text, encoding } = encode(await readWhole(opened))
    if (encoding !== 'utf8') return null
    return { path, content: text, language: languageOf(path, text), contentSha256: opened.revision }
  } catch (error) {
    if (error instanceof AgentError && noText.has(error.code)) return null
    throw error
  }
}

const noText: ReadonlySet<string> = new Set([
  'NOT_FOUND',
  'NOT_A_FILE',
  'NOT_A_DIRECTORY',
  'LINK_REFUSED',
  'TOO_LARGE',
  'INVALID',
])

/** UTF-8 as it is, a byte order mark included; anything else as base64. */
function encode(bytes: Buffer): { text: string; encoding: FileContent['encoding'] } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { text, encoding: 'utf8' }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return { text: bytes.toString('base64'), encoding: 'base64' }
  }
}

function tooLarge(path: string, error: AgentError): AppError {
  return new AppError(
    'PAYLOAD_TOO_LARGE',
    `${path} has more than ${maxFileContentBytes} bytes; read it as bytes at /api/files/raw`,
    { details: { ...error.details, reason: error.code }, cause: error },
  )
}
