import { readdirSync } from 'node:fs'
import { faultFrom } from '../fault.ts'
import { type DirectoryHandle, openDirectory } from '../files/directory-handle.ts'
import { type Change, unwatched } from './native-watcher.ts'

const unwatchedNames: ReadonlySet<string> = new Set(unwatched)

/**
 * True for a directory that has appeared with directories in it, moved here or filled at once. The native watcher
 * then reports what happens deeper under the old name, or not at all.
 */
export function hidesDirectories(root: DirectoryHandle, { path, type }: Change): boolean {
  if (type !== 'create') return false
  try {
    using directory = openDirectory(root, path)
    return readdirSync(directory.at(), { withFileTypes: true }).some(
      (entry) => entry.isDirectory() && !unwatchedNames.has(entry.name),
    )
  } catch (error) {
    // A file, or gone again.
    if (faultFrom(error).code === 'INTERNAL') throw error
    return false
  }
}
