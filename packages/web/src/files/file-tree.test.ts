import type { DirectoryEntry } from '@atelier/contract'
import { describe, expect, test } from 'vitest'
import { ancestorsOf, buildFileTree, visibleRows } from './file-tree.ts'

function entry(path: string, kind: DirectoryEntry['kind'] = 'file'): DirectoryEntry {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const facts = { size: null, modifiedAt: null, executable: false, revision: null, language: null }
  return { path, name, kind, ...facts, indexing: null, reason: null }
}

const listing = [
  entry('README.md'),
  entry('src/a10.ts'),
  entry('src', 'directory'),
  entry('src/a2.ts'),
  entry('src/deep', 'directory'),
  entry('src/deep/x.ts'),
]

describe('the file tree', () => {
  test('[PAGE6] directories come first, names in the order people count', () => {
    const tree = buildFileTree([listing])
    expect(tree.files).toEqual(['src/deep/x.ts', 'src/a2.ts', 'src/a10.ts', 'README.md'])
  })

  test('[PAGE6] only open directories show what they hold, each line with its level and place', () => {
    const tree = buildFileTree([listing])
    const shown = (...open: string[]) => visibleRows(tree, new Set(open)).map((row) => row.entry.path)
    expect(shown()).toEqual(['src', 'README.md'])
    expect(shown('src')).toEqual(['src', 'src/deep', 'src/a2.ts', 'src/a10.ts', 'README.md'])
    expect(shown('src/deep')).toEqual(['src', 'README.md'])
    expect(visibleRows(tree, new Set(['src']))[2]).toMatchObject({ level: 2, position: 2, siblings: 3 })
  })

  test('[PAGE6] a later listing of a directory adds to what is known, once', () => {
    const tree = buildFileTree([listing, [entry('src/deep/y.ts'), entry('src/deep/x.ts')]])
    expect(tree.children.get('src/deep')?.map(({ name }) => name)).toEqual(['x.ts', 'y.ts'])
  })

  test('[PAGE6] the way to a file opens every directory around it', () => {
    expect(ancestorsOf('a/b/c.ts')).toEqual(['a', 'a/b'])
    expect(ancestorsOf('c.ts')).toEqual([])
  })
})
