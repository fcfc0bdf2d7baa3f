import { describe, expect, test } from 'vitest'
import {
  commonRoot,
  isArchive,
  maxPickedFiles,
  pickedOfList,
  readEntries,
  TooManyFilesError,
} from './picked-files.ts'

type Tree = { [name: string]: Tree | string }

/** Entries as a browser gives them: folders in portions of two. */
function entryOf(name: string, node: Tree | string, parent = ''): FileSystemEntry {
  const fullPath = `${parent}/${name}`
  if (typeof node === 'string') {
    const file = (resolve: (file: File) => void) => resolve(new File([node], name))
    return { isDirectory: false, isFile: true, name, fullPath, file } as unknown as FileSystemEntry
  }
  const children = Object.entries(node).map(([child, value]) => entryOf(child, value, fullPath))
  const createReader = () => {
    const left = [...children]
    return { readEntries: (resolve: (portion: FileSystemEntry[]) => void) => resolve(left.splice(0, 2)) }
  }
  return { isDirectory: true, isFile: false, name, fullPath, createReader } as unknown as FileSystemEntry
}

const project: Tree = {
  '.git': { HEAD: 'ref' },
  node_modules: { a: { 'index.js': 'x' } },
  src: { 'a.ts': 'a', 'b.ts': 'bb', deep: { 'c.ts': 'ccc' } },
  'README.md': 'hi',
  '.DS_Store': 'junk',
}

describe('what a person drops', () => {
  test('[PAGE4] a folder is read to its leaves, without histories and installed packages, which are named', async () => {
    const seen: number[] = []
    const picked = await readEntries([entryOf('app', project)], (files) => seen.push(files))
    expect(picked.files.map((file) => file.path).sort()).toEqual([
      'app/README.md',
      'app/src/a.ts',
      'app/src/b.ts',
      'app/src/deep/c.ts',
    ])
    expect(picked.leftOut.sort()).toEqual(['app/.git', 'app/node_modules'])
    expect(picked.bytes).toBe(8)
    expect(seen).toEqual([1, 2, 3, 4])
  })

  test('[PAGE4] the folder picker leaves out the same', () => {
    const file = (path: string) =>
      Object.defineProperty(new File(['1'], path), 'webkitRelativePath', { value: path })
    const picked = pickedOfList([
      file('app/a.ts'),
      file('app/node_modules/x/y.js'),
      file('app/node_modules/z.js'),
    ])
    expect(picked.files.map((each) => each.path)).toEqual(['app/a.ts'])
    expect(picked.leftOut).toEqual(['app/node_modules'])
  })

  test('[PAGE4] more files than one import takes are refused before anything is sent', () => {
    const file = new File([], 'a')
    expect(() => pickedOfList(Array.from({ length: maxPickedFiles + 1 }, () => file))).toThrow(
      TooManyFilesError,
    )
  })

  test('[PAGE4] one folder around everything is told from several, and archives by their names', () => {
    expect(commonRoot(['app/a', 'app/b/c'])).toBe('app')
    expect(commonRoot(['app/a', 'b'])).toBeNull()
    expect(commonRoot(['a'])).toBeNull()
    expect(['x.zip', 'x.tar.gz', 'x.TGZ', 'x.tar', 'x.gz', 'zip'].map(isArchive)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ])
  })
})
