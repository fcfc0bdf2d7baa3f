import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorkspaceUsers, userRange } from './workspace-users.ts'

const isRoot = process.getuid?.() === 0

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'atelier-users-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

function home(name: string, owner?: number): string {
  const path = join(directory, name)
  mkdirSync(path)
  if (owner !== undefined) chownSync(path, owner, owner)
  return path
}

describe('users of workspaces', () => {
  it('[SBX14] under root every workspace gets one of its own, that no other program has', () => {
    const users = createWorkspaceUsers({ own: 0, directory: '/data', homes: () => [] })
    const given = ['a', 'b', 'c'].map((name) => users.userOf(join(directory, name)))
    expect(new Set(given).size).toBe(3)
    for (const user of given) {
      expect(user).toBeGreaterThanOrEqual(userRange.first)
      expect(user).toBeLessThanOrEqual(userRange.last)
    }
  })

  it.skipIf(!isRoot)('[SBX14] the owner of a home keeps it, over restarts, and nobody gets the same', () => {
    const first = createWorkspaceUsers({ own: 0, directory: '/data', homes: () => [] }).userOf(
      join(directory, 'none'),
    )
    const kept = home('kept', first)
    const users = createWorkspaceUsers({ own: 0, directory: '/data', homes: () => [kept] })
    expect(users.userOf(kept)).toBe(first)
    expect(users.userOf(join(directory, 'new'))).toBe(first + 1)
  })

  it.skipIf(!isRoot)('[SBX14] a home of a person is refused rather than run as that person', () => {
    const users = createWorkspaceUsers({ own: 0, directory: '/data', homes: () => [] })
    const theirs = home('theirs', 1000)
    expect(() => users.userOf(theirs)).toThrow(/belong to user 1000/)
  })

  it("[SBX14] without root all are the server's, and that is told", () => {
    const users = createWorkspaceUsers({ own: 1000, directory: '/data', homes: () => [] })
    expect(users.separate).toBe(false)
    expect(users.userOf(join(directory, 'any'))).toBe(1000)
  })

  it('[SBX14] two servers on one machine do not share users', () => {
    const first = (path: string) =>
      createWorkspaceUsers({ own: 0, directory: path, homes: () => [] }).userOf(join(directory, 'x'))
    expect(first('/data/one')).not.toBe(first('/data/two'))
  })
})
