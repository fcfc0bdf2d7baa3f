import type { DirectoryEntry, DirectoryListing } from '@atelier/contract'
import type { FileFacts } from './files-store.ts'

/** Entries of one listing; the page shows a tree level by level. */
export const maxListedEntries = 5_000

/**
 * A folder as its entries, each folder before its content and before the files beside it. `files` and `folders` are what
 * lies under `path`, as many as were found; the folders between them are made up from their paths.
 */
export function directoryListing(options: {
  path: string
  files: readonly FileFacts[]
  folders: readonly string[]
  describeReason(reason: string): string
}): DirectoryListing {
  const { path, files, folders, describeReason } = options
  const prefix = path === '' ? '' : `${path}/`
  const entries = new Map<string, DirectoryEntry>()
  const addFolders = (under: string) => {
    for (let slash = under.indexOf('/', prefix.length); slash !== -1; slash = under.indexOf('/', slash + 1)) {
      const folder = under.slice(0, slash)
      if (!entries.has(folder)) entries.set(folder, folderEntry(folder))
    }
  }
  for (const folder of folders) addFolders(`${folder}/`)
  for (const file of files) {
    addFolders(file.path)
    entries.set(file.path, fileEntry(file, describeReason))
  }
  const sorted = [...entries.values()].sort(compareInTree)
  return {
    kind: 'directory',
    path,
    entries: sorted.slice(0, maxListedEntries),
    truncated: sorted.length > maxListedEntries,
  }
}

function folderEntry(path: string): DirectoryEntry {
  return {
    path,
    name: nameOf(path),
    kind: 'directory',
    size: null,
    modifiedAt: null,
    executable: false,
    revision: null,
    language: null,
    indexing: null,
    reason: null,
  }
}

function fileEntry(file: FileFacts, describeReason: (reason: string) => string): DirectoryEntry {
  const { path, bytes, language, status, reason } = file
  return {
    path,
    name: nameOf(path),
    kind: 'file',
    size: bytes,
    modifiedAt: file.modifiedAt.toISOString(),
    executable: false,
    revision: file.revision,
    language,
    indexing: status,
    reason: reason === null ? null : describeReason(reason),
  }
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Each folder before its content and before the files beside it, in the order of code units. */
export function compareInTree(one: DirectoryEntry, other: DirectoryEntry): number {
  const ours = one.path.split('/')
  const theirs = other.path.split('/')
  const at = ours.findIndex((segment, index) => segment !== theirs[index])
  if (at === -1) return ours.length - theirs.length
  if (theirs[at] === undefined) return 1
  const oursIsFolder = at < ours.length - 1 || one.kind === 'directory'
  const theirsIsFolder = at < theirs.length - 1 || other.kind === 'directory'
  if (oursIsFolder !== theirsIsFolder) return oursIsFolder ? -1 : 1
  return (ours[at] as string) < (theirs[at] as string) ? -1 : 1
}
