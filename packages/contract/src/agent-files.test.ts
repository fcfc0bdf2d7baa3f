import { describe, expect, it } from 'vitest'
import { EntryPath, WorkspacePath } from './agent-files.ts'

describe('paths of a workspace', () => {
  it.each(['', 'a', 'a/b.txt', '.env', '...', 'a b/ü/日本', 'a\\b'])('[AGT10] %j is one', (path) => {
    expect(WorkspacePath.safeParse(path).success).toBe(true)
  })

  it.each([
    '/etc/passwd',
    '..',
    '../x',
    'a/../b',
    'a/..',
    './a',
    'a/.',
    'a//b',
    'a/',
    '/',
    'a\0b',
    '\ud800',
    `${'x'.repeat(256)}`,
    'a/'.repeat(3000),
  ])('[AGT10] %j is none', (path) => {
    expect(WorkspacePath.safeParse(path).success).toBe(false)
  })

  it('[AGT10] the root is a path but not an entry', () => {
    expect(EntryPath.safeParse('').success).toBe(false)
  })
})
