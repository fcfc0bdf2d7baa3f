import type { DirectoryEntry } from '@atelier/contract'

/** The known entries of a workspace, by the directory they are in; the root is the empty path. */
export interface FileTree {
  children: ReadonlyMap<string, readonly DirectoryEntry[]>
  /** paths of all known files, in the order of the tree */
  files: readonly string[]
}

/** Puts flat listings into a tree: directories first, then by name as people sort (`a2` before `a10`). */
export function buildFileTree(listings: readonly (readonly DirectoryEntry[])[]): FileTree {
  const byPath = new Map<string, DirectoryEntry>()
  for (const listing of listings) for (const entry of listing) byPath.set(entry.path, entry)
  const children = new Map<string, DirectoryEntry[]>([['', []]])
  for (const entry of byPath.values()) {
    const parent = parentOf(entry.path)
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [entry])
    else siblings.push(entry)
  }
  for (const siblings of children.values()) siblings.sort(compareEntries)
  const files: string[] = []
  collectFiles(children, '', files)
  return { children, files }
}

/** One line of the tree as it is shown. */
export interface TreeRow {
  entry: DirectoryEntry
  /** 1 at the root */
  level: number
  expanded: boolean
  position: number
  siblings: number
}

/** The lines that are visible with these directories open. */
export function visibleRows(tree: FileTree, expanded: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = []
  const add = (directory: string, level: number) => {
    const entries = tree.children.get(directory) ?? []
    entries.forEach((entry, index) => {
      const isOpen = entry.kind === 'directory' && expanded.has(entry.path)
      rows.push({ entry, level, expanded: isOpen, position: index + 1, siblings: entries.length })
      if (isOpen) add(entry.path, level + 1)
    })
  }
  add('', 1)
  return rows
}

/** The directories around a path, outermost first. */
export function ancestorsOf(path: string): string[] {
  const segments = path.split('/').slice(0, -1)
  return segments.map((_segment, index) => segments.slice(0, index + 1).join('/'))
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

function compareEntries(left: DirectoryEntry, right: DirectoryEntry): number {
  if (left.kind !== right.kind) return left.kind === 'directory' ? -1 : 1
  return collator.compare(left.name, right.name)
}

function collectFiles(
  children: ReadonlyMap<string, readonly DirectoryEntry[]>,
  directory: string,
  files: string[],
): void {
  for (const entry of children.get(directory) ?? []) {
    if (entry.kind === 'directory') collectFiles(children, entry.path, files)
    else files.push(entry.path)
  }
}
