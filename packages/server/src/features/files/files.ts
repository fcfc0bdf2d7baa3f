import type { DirectoryListing, FileContent } from '@atelier/contract'
import ignore from 'ignore'
import { AppError, notFound } from '../../base/app-error.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import { directoryListing, maxListedEntries } from './directory-listing.ts'
import type { FileFacts, FilesStore } from './files-store.ts'

export interface ReadRequest {
  path: string
  /** levels of a folder */
  depth: number
  /** only entries that this pattern, in the language of `.gitignore`, names */
  glob?: string | undefined
  /** list the revisions of files */
  revisions?: boolean | undefined
  knownRevisions: readonly string[]
}

/** The files of workspaces, from wherever they are kept. */
export interface Files {
  /**
   * The file or folder at `path`; `unchanged` where the file has one of `knownRevisions`. Throws NOT_FOUND, for a file
   * of which no text is kept too.
   */
  read(
    scope: WorkspaceScope,
    request: ReadRequest,
  ): Promise<FileContent | DirectoryListing | { kind: 'unchanged'; revision: string }>
  /** The text of a file with the SHA-256 of its bytes, `null` where there is none. */
  readText(scope: WorkspaceScope, path: string): Promise<FileText | null>
  /** Throws CONFLICT where a file would stand where a folder is, or a folder where a file is. */
  refusePathConflicts(scope: WorkspaceScope, paths: readonly string[]): Promise<void>
}

export interface FileText {
  path: string
  content: string
  language: string | null
  contentSha256: string
}

/** Documents as files. `describeReason` puts the reason that a document keeps into words. */
export function createFiles(dependencies: {
  store: FilesStore
  describeReason(reason: string): string
}): Files {
  const { store, describeReason } = dependencies

  async function textOf(scope: WorkspaceScope, { contentId }: FileFacts): Promise<string | null> {
    return contentId === null ? null : await store.text(scope, contentId)
  }

  async function list(scope: WorkspaceScope, { path, depth, glob }: ReadRequest): Promise<DirectoryListing> {
    const prefix = path === '' ? '' : `${path}/`
    // One more than is shown tells whether there are more.
    const found = await store.list(scope, { prefix, depth, limit: maxListedEntries + 1 })
    if (path !== '' && found.files.length === 0 && found.folders.length === 0)
      throw notFound('File or folder')
    const listing = directoryListing({ path, ...found, describeReason })
    if (glob === undefined) return listing
    const pattern = ignore().add(glob)
    return { ...listing, entries: listing.entries.filter((entry) => pattern.ignores(entry.path)) }
  }

  return {
    async read(scope, request) {
      const { path, knownRevisions } = request
      const file = path === '' ? null : await store.find(scope, path)
      if (!file) return await list(scope, request)
      if (knownRevisions.includes(file.revision)) return { kind: 'unchanged', revision: file.revision }
      const content = await textOf(scope, file)
      if (content === null) throw notKept(file, describeReason)
      return toFileContent(file, content)
    },
    async readText(scope, path) {
      const file = await store.find(scope, path)
      const content = file && (await textOf(scope, file))
      if (!file || content === null) return null
      return { path, content, language: file.language, contentSha256: file.revision }
    },
    async refusePathConflicts(scope, paths) {
      const inTheWay = await store.anyOf(scope, [...foldersAbove(paths)])
      if (inTheWay !== null) throw conflict(`${inTheWay} is a file here, and a folder in what was sent`)
      const folders = await store.parents(scope)
      const existing = new Set([...folders, ...foldersAbove(folders)])
      const path = paths.find((one) => existing.has(one))
      if (path !== undefined) throw conflict(`${path} is a folder here, and a file in what was sent`)
    },
  }
}

function toFileContent(file: FileFacts, content: string): FileContent {
  return {
    kind: 'file',
    path: file.path,
    content,
    encoding: 'utf8',
    revision: file.revision,
    size: file.bytes,
    modifiedAt: file.modifiedAt.toISOString(),
    language: file.language,
  }
}

function notKept({ path, reason }: FileFacts, describeReason: (reason: string) => string): AppError {
  const why = reason === null ? '' : `: ${describeReason(reason)}`
  return new AppError('NOT_FOUND', `The content of ${path} is not kept${why}`)
}

/** Every folder that one of the paths lies in. */
function foldersAbove(paths: readonly string[]): Set<string> {
  const folders = new Set<string>()
  for (const path of paths) {
    for (let slash = path.lastIndexOf('/'); slash !== -1; slash = path.lastIndexOf('/', slash - 1)) {
      const folder = path.slice(0, slash)
      // Whatever is above a known folder is known too.
      if (folders.has(folder)) break
      folders.add(folder)
    }
  }
  return folders
}

function conflict(message: string): AppError {
  return new AppError('CONFLICT', message)
}
