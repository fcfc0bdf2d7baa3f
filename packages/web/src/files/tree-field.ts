import { EntryPath } from '@atelier/contract'
import { type FileTree, parentOf, type TreeRow } from './file-tree.ts'

/** A name being typed in the tree: of something new in a folder, or of what is there. */
export type TreeField =
  | { kind: 'create'; parent: string; entry: 'file' | 'directory' }
  | { kind: 'rename'; path: string }

/** No file can be called so: it stands for the one that has no name yet. */
const unnamed = '\0'

/** The rows with one more for a new entry, first in its folder. */
export function rowsWithField(rows: readonly TreeRow[], field: TreeField | null): readonly TreeRow[] {
  if (field?.kind !== 'create') return rows
  const at = rows.findIndex((row) => row.entry.path === field.parent)
  if (field.parent !== '' && at === -1) return rows
  const entry: TreeRow['entry'] = {
    path: `${field.parent}/${unnamed}`,
    name: '',
    kind: field.entry,
    size: null,
    modifiedAt: null,
    executable: false,
    revision: null,
    language: null,
    indexing: null,
    reason: null,
  }
  const level = (rows[at]?.level ?? 0) + 1
  return rows.toSpliced(at + 1, 0, { entry, level, expanded: false, position: 1, siblings: 1 })
}

export function isFieldRow(row: TreeRow, field: TreeField | null): boolean {
  if (field === null) return false
  return field.kind === 'rename' ? row.entry.path === field.path : row.entry.name === ''
}

/** Where a typed name leads: beside what it replaces, or below the root where it begins with a slash. */
export function pathOfName(field: TreeField, name: string): string {
  if (name.startsWith('/')) return name.slice(1)
  const parent = field.kind === 'create' ? field.parent : parentOf(field.path)
  return parent === '' ? name : `${parent}/${name}`
}

/** What is wrong with a typed name; null where nothing is. */
export function faultOfName(tree: FileTree, field: TreeField, name: string): string | null {
  const path = pathOfName(field, name)
  if (field.kind === 'rename' && path === field.path) return null
  const parsed = EntryPath.safeParse(path)
  if (!parsed.success) return `The name ${parsed.error.issues[0]?.message ?? 'cannot be used'}`
  const taken = tree.children.get(parentOf(path))?.some((entry) => entry.path === path) === true
  return taken ? `“${path}” is there already` : null
}

/** What lies in a folder, as far as the listing goes. */
export function countBelow(tree: FileTree, directory: string): { files: number; folders: number } {
  const counts = { files: 0, folders: 0 }
  for (const entry of tree.children.get(directory) ?? []) {
    if (entry.kind !== 'directory') counts.files += 1
    else {
      const below = countBelow(tree, entry.path)
      counts.files += below.files
      counts.folders += below.folders + 1
    }
  }
  return counts
}
