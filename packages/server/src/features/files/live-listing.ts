import type { DirectoryEntry, DirectoryListing } from '@atelier/contract'
import type { AgentFileEntry } from '@atelier/contract/agent-files'
import { ignoredAt } from '../../platform/archive/import-ignored.ts'
import { compareInTree, maxListedEntries, nameOf } from './directory-listing.ts'

/** What search knows about one file. */
export type IndexingFacts = Pick<DirectoryEntry, 'indexing' | 'reason' | 'language'>

/** By path; files that are not in it are not known to search. */
export interface ListedFacts {
  known: ReadonlyMap<string, IndexingFacts>
  /** the index has yet to catch up with the directory */
  isPending(path: string): boolean
}

const ignoredReason = 'Named by a .gitignore file.'

/** A directory's entries as the agent lists them, with what search says about each. */
export function liveListing(options: {
  path: string
  entries: readonly AgentFileEntry[]
  facts: ListedFacts
  languageOf(path: string): string | null
}): DirectoryListing {
  const { path, entries, facts, languageOf } = options
  const described = entries.map((entry): DirectoryEntry => {
    const { type, modifiedAt } = entry
    const isFile = type === 'file'
    return {
      path: entry.path,
      name: nameOf(entry.path),
      kind: type,
      size: isFile ? entry.size : null,
      modifiedAt: new Date(modifiedAt).toISOString(),
      executable: entry.executable,
      revision: entry.revision ?? null,
      ...(isFile ? fileFacts(entry, facts, languageOf) : folderFacts(entry)),
    }
  })
  return {
    kind: 'directory',
    path,
    entries: described.slice(0, maxListedEntries).sort(compareInTree),
    truncated: described.length > maxListedEntries,
  }
}

function fileFacts(
  { path, ignored }: AgentFileEntry,
  facts: ListedFacts,
  languageOf: (path: string) => string | null,
): IndexingFacts {
  const known = facts.known.get(path)
  const language = known?.language ?? languageOf(path)
  if (ignored === true) return { language, indexing: 'skipped', reason: ignoredReason }
  const closed = ignoredAt(path)
  if (closed) return { language, indexing: 'skipped', reason: sentence(closed.reason) }
  if (facts.isPending(path)) return { language, indexing: 'pending', reason: null }
  return known ?? { language, indexing: 'skipped', reason: 'Not in the index.' }
}

function folderFacts({ path, type, ignored }: AgentFileEntry): IndexingFacts {
  const closed = type === 'directory' ? ignoredAt(`${path}/x`) : null
  const reason = ignored === true ? ignoredReason : closed === null ? null : sentence(closed.reason)
  return { language: null, indexing: null, reason }
}

function sentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`
}
