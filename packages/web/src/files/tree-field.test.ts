import type { DirectoryEntry } from '@atelier/contract'
import { expect, test } from 'vitest'
import { buildFileTree, visibleRows } from './file-tree.ts'
import { countBelow, faultOfName, pathOfName, rowsWithField } from './tree-field.ts'

function entry(path: string, kind: DirectoryEntry['kind'] = 'file'): DirectoryEntry {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const facts = { size: null, modifiedAt: null, executable: false, revision: null, language: null }
  return { path, name, kind, ...facts, indexing: null, reason: null }
}

const tree = buildFileTree([
  [entry('src', 'directory'), entry('src/a.ts'), entry('src/deep', 'directory'), entry('src/deep/b.ts')],
])
const inSrc = { kind: 'create', parent: 'src', entry: 'file' } as const

test('[PAGE23] the field of a new entry is the first row of its folder', () => {
  const names = rowsWithField(visibleRows(tree, new Set(['src'])), inSrc).map((row) => row.entry.name)
  expect(names).toEqual(['src', '', 'deep', 'a.ts'])
  const atRoot = rowsWithField(visibleRows(tree, new Set()), { ...inSrc, parent: '' })
  expect(atRoot.map(({ level, entry: { name } }) => [level, name])).toEqual([
    [1, ''],
    [1, 'src'],
  ])
})

test('[PAGE23] a name is a path from its folder, or from the root after a slash', () => {
  expect(pathOfName(inSrc, 'x/y.ts')).toBe('src/x/y.ts')
  expect(pathOfName({ kind: 'rename', path: 'src/a.ts' }, 'b.ts')).toBe('src/b.ts')
  expect(pathOfName({ kind: 'rename', path: 'src/a.ts' }, '/b.ts')).toBe('b.ts')
})

test('[PAGE23] a name that is taken or cannot be is told before it is sent', () => {
  expect(faultOfName(tree, inSrc, 'a.ts')).toBe('“src/a.ts” is there already')
  expect(faultOfName(tree, inSrc, '../a.ts')).toMatch(/^The name must not contain/)
  expect(faultOfName(tree, { kind: 'rename', path: 'src/a.ts' }, 'a.ts')).toBeNull()
  expect(faultOfName(tree, inSrc, 'b.ts')).toBeNull()
})

test('[PAGE23] what goes with a folder is counted to its leaves', () => {
  expect(countBelow(tree, 'src')).toEqual({ files: 2, folders: 1 })
})
