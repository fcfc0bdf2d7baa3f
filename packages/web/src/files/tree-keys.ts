import { parentOf, type TreeRow } from './file-tree.ts'

export type TreeKeyAction =
  | { kind: 'move' | 'activate' | 'expand' | 'collapse'; index: number }
  | { kind: 'typed'; index: number; text: string }

/**
 * What a key does in the tree (WAI-ARIA tree view pattern): arrows, Home, End, Page keys, Enter, and the beginning of
 * a name. `typed` is what was typed just before; null: the key means nothing here.
 */
export function treeKey(
  rows: readonly TreeRow[],
  at: number,
  key: string,
  typed: string,
  page: number,
): TreeKeyAction | null {
  const row = rows[at]
  if (row === undefined) return null
  const last = rows.length - 1
  const move = (index: number): TreeKeyAction => ({ kind: 'move', index: Math.max(0, Math.min(last, index)) })
  switch (key) {
    case 'ArrowDown':
      return move(at + 1)
    case 'ArrowUp':
      return move(at - 1)
    case 'Home':
      return move(0)
    case 'End':
      return move(last)
    case 'PageDown':
      return move(at + page)
    case 'PageUp':
      return move(at - page)
    case 'Enter':
      return { kind: 'activate', index: at }
    case 'ArrowRight':
      if (row.entry.kind === 'file') return null
      return row.expanded ? move(at + 1) : { kind: 'expand', index: at }
    case 'ArrowLeft':
      return row.expanded ? { kind: 'collapse', index: at } : toParent(rows, row, move)
    case ' ':
      if (typed === '') return { kind: 'activate', index: at }
  }
  return key.length === 1 ? typeAhead(rows, at, typed + key.toLowerCase()) : null
}

function toParent(rows: readonly TreeRow[], row: TreeRow, move: (index: number) => TreeKeyAction) {
  const parent = parentOf(row.entry.path)
  const index = rows.findIndex((each) => each.entry.path === parent)
  return index === -1 ? null : move(index)
}

/** One character looks from the next row on; more refine from where they stand. The search wraps. */
function typeAhead(rows: readonly TreeRow[], at: number, text: string): TreeKeyAction {
  const from = text.length === 1 ? at + 1 : at
  for (let step = 0; step < rows.length; step += 1) {
    const index = (from + step) % rows.length
    if (rows[index]?.entry.name.toLowerCase().startsWith(text)) return { kind: 'typed', index, text }
  }
  return { kind: 'typed', index: at, text }
}
