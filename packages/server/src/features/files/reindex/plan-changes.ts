import type { Observation, ObservedFile } from './observe-paths.ts'
import type { IndexedDocument } from './search-documents.ts'

/** Moves done one by one; of more, the contents are read again, which search recognises. */
const maxRenames = 200

/** What makes the documents like the directory again. */
export interface ChangePlan {
  rename: { from: string; to: string }[]
  index: ObservedFile[]
  remove: string[]
}

/**
 * Compares what is on disk at changed paths with the documents `at` them and `below` what is a folder no more. A file
 * that appears with the content of one that is gone is that file, moved.
 */
export function planChanges(
  seen: Observation,
  documents: { at: readonly IndexedDocument[]; below: readonly IndexedDocument[] },
): ChangePlan {
  const stored = new Map([...documents.at, ...documents.below].map((one) => [one.path, one.contentSha256]))
  const files = new Map(seen.files.map((file) => [file.path, file]))
  const index = seen.files.filter(({ path, revision }) => stored.get(path) !== revision)
  const remove = [...stored.keys()].filter((path) => !files.has(path))
  return withRenames({ index, remove }, stored)
}

function withRenames(
  { index, remove }: Pick<ChangePlan, 'index' | 'remove'>,
  stored: ReadonlyMap<string, string>,
): ChangePlan {
  const gone = new Map<string, string[]>()
  for (const path of remove) {
    const key = `${stored.get(path)} ${extensionOf(path)}`
    gone.set(key, [...(gone.get(key) ?? []), path])
  }
  const rename: ChangePlan['rename'] = []
  const left = index.filter(({ path, revision }) => {
    // A document that is there already under the new name would be in the way; another ending is another language.
    if (stored.has(path) || rename.length >= maxRenames) return true
    const from = gone.get(`${revision} ${extensionOf(path)}`)?.pop()
    if (from === undefined) return true
    rename.push({ from, to: path })
    return false
  })
  const moved = new Set(rename.map(({ from }) => from))
  return { rename, index: left, remove: remove.filter((path) => !moved.has(path)) }
}

function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return name.slice(Math.max(0, name.lastIndexOf('.')))
}
