import { resolve } from 'node:path'
import { WorkspacePath } from '@atelier/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entryPath, shownName } from './entry-path.ts'

describe('names from outside', () => {
  it.each([
    ['../x', 'leads out'],
    ['a/../../x', 'leads out'],
    ['a/..', 'leads out'],
    ['a\\..\\x', 'leads out'],
    ['/etc/passwd', 'absolute'],
    ['\\\\server\\share', 'absolute'],
    ['C:\\x', 'drive letter'],
    ['c:x', 'drive letter'],
    ['./c:x', 'drive letter'],
    ['a\0.ts', 'NUL'],
  ])('[IMP3] %j is unsafe', (name, issue) => {
    expect(entryPath(name)).toEqual({ kind: 'unsafe', issue: expect.stringContaining(issue) })
  })

  it.each([
    ['a\\b.ts', 'backslash'],
    ['a\nb.ts', 'control character'],
    ['gr\uFFFDn.ts', 'not UTF-8'],
    [`${'ü'.repeat(128)}.ts`, '255 bytes'],
    [`${'a/'.repeat(64)}b.ts`, '64 folders'],
    ['abcd/'.repeat(820), 'characters'],
  ])('[IMP4] %j cannot be kept', (name, reason) => {
    expect(entryPath(name)).toMatchObject({ kind: 'unusable', reason: expect.stringContaining(reason) })
  })

  it.each([
    ['a.ts', 'a.ts'],
    ['./a//b/./c.ts', 'a/b/c.ts'],
    ['src/', 'src'],
    ['./', ''],
    ['..a/b..c/...', '..a/b..c/...'],
    ['cafe\u0301.md', 'café.md'],
    ['README.md', 'README.md'],
    ['readme.md', 'readme.md'],
    ['a b/c:d.ts', 'a b/c:d.ts'],
  ])('[IMP4] %j is the path %j', (name, path) => {
    expect(entryPath(name)).toEqual({ kind: 'path', path })
  })

  it('[IMP3] no name whatsoever becomes a path that leaves the workspace', () => {
    const piece = fc.oneof(
      fc.constantFrom('..', '.', '/', '\\', '\0', 'C:', '', '//', '\u2215', '%2e%2e'),
      fc.string(),
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
        (name) => {
          const judged = entryPath(name)
          if (judged.kind !== 'path') return
          expect(WorkspacePath.safeParse(judged.path).success).toBe(true)
          expect(resolve('/workspace', judged.path)).toBe(
            judged.path === '' ? '/workspace' : `/workspace/${judged.path}`,
          )
          expect(entryPath(judged.path)).toEqual(judged)
        },
      ),
      { numRuns: 3_000 },
    )
  })

  it('[IMP3] a message repeats a name shortened and without control characters', () => {
    expect(shownName(`\x1b[2J${'x'.repeat(1_000)}`)).toMatch(/^\uFFFD\[2Jx{196}…$/)
  })
})
