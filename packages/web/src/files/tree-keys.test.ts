import type { DirectoryEntry } from '@atelier/contract'
import { describe, expect, test } from 'vitest'
import { buildFileTree, visibleRows } from './file-tree.ts'
import { treeKey } from './tree-keys.ts'

function entry(path: string, kind: DirectoryEntry['kind'] = 'file'): DirectoryEntry {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const facts = { size: null, modifiedAt: null, executable: false, revision: null, language: null }
  return { path, name, kind, ...facts, indexing: null, reason: null }
}

const tree = buildFileTree([
  [
    entry('src', 'directory'),
    entry('src/alpha.ts'),
    entry('src/beta.ts'),
    entry('test', 'directory'),
    entry('README.md'),
  ],
])
const rows = visibleRows(tree, new Set(['src']))
// src, src/alpha.ts, src/beta.ts, test, README.md
const press = (at: number, key: string, typed = '') => treeKey(rows, at, key, typed, 3)

describe('keys in the file tree', () => {
  test('[PAGE6] arrows, Home, End and Page keys move and stop at the ends', () => {
    expect(press(0, 'ArrowDown')).toEqual({ kind: 'move', index: 1 })
    expect(press(0, 'ArrowUp')).toEqual({ kind: 'move', index: 0 })
    expect(press(1, 'End')).toEqual({ kind: 'move', index: 4 })
    expect(press(4, 'Home')).toEqual({ kind: 'move', index: 0 })
    expect(press(3, 'PageDown')).toEqual({ kind: 'move', index: 4 })
    expect(press(4, 'PageUp')).toEqual({ kind: 'move', index: 1 })
  })

  test('[PAGE6] right opens a directory and then enters it; left closes it, or goes to the parent', () => {
    expect(press(3, 'ArrowRight')).toEqual({ kind: 'expand', index: 3 })
    expect(press(0, 'ArrowRight')).toEqual({ kind: 'move', index: 1 })
    expect(press(1, 'ArrowRight')).toBeNull()
    expect(press(0, 'ArrowLeft')).toEqual({ kind: 'collapse', index: 0 })
    expect(press(2, 'ArrowLeft')).toEqual({ kind: 'move', index: 0 })
    expect(press(4, 'ArrowLeft')).toBeNull()
    expect(press(4, 'Enter')).toEqual({ kind: 'activate', index: 4 })
  })

  test('[PAGE6] typing the beginning of a name goes there, and wraps', () => {
    expect(press(0, 'b')).toEqual({ kind: 'typed', index: 2, text: 'b' })
    expect(press(2, 'e', 'b')).toEqual({ kind: 'typed', index: 2, text: 'be' })
    expect(press(4, 'S')).toEqual({ kind: 'typed', index: 0, text: 's' })
    expect(press(4, 'z')).toEqual({ kind: 'typed', index: 4, text: 'z' })
    expect(press(0, 'Shift')).toBeNull()
  })
})
