import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { directoryListing, maxListedEntries } from './directory-listing.ts'
import type { FileFacts } from './files-store.ts'

function file(path: string, reason: string | null = null): FileFacts {
  const status = reason === null ? 'indexed' : 'skipped'
  const modifiedAt = new Date(0)
  return { path, revision: '', bytes: 1, language: null, status, reason, modifiedAt, contentId: 1 }
}

function listing(path: string, files: FileFacts[], folders: string[] = []) {
  return directoryListing({ path, files, folders, describeReason: (reason) => `because ${reason}` })
}

describe('the listing of a folder', () => {
  it('[FILE3] has each folder before its content and before the files beside it', () => {
    const { entries, truncated } = listing(
      '',
      [file('a.ts'), file('src/b/c.ts'), file('src/a.ts'), file('Z/z')],
      ['lib'],
    )
    expect(entries.map(({ path, kind }) => [path, kind])).toEqual([
      ['Z', 'directory'],
      ['Z/z', 'file'],
      ['lib', 'directory'],
      ['src', 'directory'],
      ['src/b', 'directory'],
      ['src/b/c.ts', 'file'],
      ['src/a.ts', 'file'],
      ['a.ts', 'file'],
    ])
    expect(truncated).toBe(false)
  })

  it('[FILE3] of a subfolder names what is in it, not what is above', () => {
    const { entries } = listing('src', [file('src/a.ts'), file('src/b/c.ts')])
    expect(entries.map(({ path, name }) => [path, name])).toEqual([
      ['src/b', 'b'],
      ['src/b/c.ts', 'c.ts'],
      ['src/a.ts', 'a.ts'],
    ])
  })

  it('[FILE4] tells in words why a file is not searchable', () => {
    expect(listing('', [file('a.bin', 'binary')]).entries).toMatchObject([
      { indexing: 'skipped', reason: 'because binary' },
    ])
  })

  it('[FILE3] ends at the limit and says so', () => {
    const files = Array.from({ length: maxListedEntries + 1 }, (_, at) => file(`f${at}`))
    expect(listing('', files)).toMatchObject({ truncated: true, entries: { length: maxListedEntries } })
    expect(listing('', files.slice(1))).toMatchObject({
      truncated: false,
      entries: { length: maxListedEntries },
    })
  })

  it('[FILE3] is in one order, whatever the order it was found in', () => {
    const segment = fc.constantFrom('a', 'b', 'B', 'a-', 'ä', 'zz')
    const paths = fc.uniqueArray(
      fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => `${parts.join('/')}/f`),
    )
    fc.assert(
      fc.property(paths, fc.infiniteStream(fc.nat()), (found, keys) => {
        const shuffled = found
          .map((path) => [keys.next().value ?? 0, path] as const)
          .sort(([a], [b]) => a - b)
        const ordered = listing(
          '',
          found.map((path) => file(path)),
        ).entries
        expect(
          listing(
            '',
            shuffled.map(([, path]) => file(path)),
          ).entries,
        ).toEqual(ordered)
        const seen = new Set([''])
        for (const { path } of ordered) {
          expect(seen.has(path.slice(0, Math.max(0, path.lastIndexOf('/'))))).toBe(true)
          seen.add(path)
        }
      }),
    )
  })
})
