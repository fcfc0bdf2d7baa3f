import { describeOnEveryDatabase, openTestDatabase } from '@atelier/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { newId } from '../../packages/server/src/base/ids.ts'
import { createFiles, type Files } from '../../packages/server/src/features/files/index.ts'
import type { Database } from '../../packages/server/src/platform/db/database.ts'
import {
  grantWorkspaceScope,
  type WorkspaceScope,
} from '../../packages/server/src/platform/identity/workspace-scope.ts'

describeOnEveryDatabase('files', (engine) => {
  let database: Database
  let files: Files
  let scope: WorkspaceScope

  beforeAll(async () => {
    database = await openTestDatabase(engine)
    files = createFiles({ database, describeReason: (reason) => reason })
  })
  afterAll(() => database[Symbol.asyncDispose]())
  beforeEach(async () => {
    scope = await newWorkspace()
  })

  async function newWorkspace(): Promise<WorkspaceScope> {
    const workspaceId = newId('workspace')
    await database.kysely.insertInto('workspaces').values({ id: workspaceId, name: 'w' }).execute()
    return grantWorkspaceScope({ workspaceId, userId: null, role: 'viewer' })
  }

  /** Documents whose text is not kept: what a tree needs of them. */
  async function store(within: WorkspaceScope, paths: readonly string[]): Promise<void> {
    await sql`
      insert into documents (id, workspace_id, path, content_sha256, bytes, status, reason)
      select 'doc_' || md5(${within.workspaceId} || path), ${within.workspaceId}, path, repeat('0', 64), 1, 'skipped', 'binary'
      from unnest(${[...paths]}::text[]) as path`.execute(database.kysely)
  }

  async function list(path: string, depth: number): Promise<string[]> {
    const found = await files.read(scope, { path, depth, knownRevisions: [] })
    return found.kind === 'directory'
      ? found.entries.map((entry) => entry.path)
      : expect.unreachable('a file')
  }

  it('[FILE3] a tree is in the order of code points, whatever the database sorts by', async () => {
    await store(scope, ['b', 'B', 'a-b/x', 'a/x', 'a_b/x', 'ä/x', 'Z/x', '😀/x/y', 'a/x.d/y'])
    expect(await list('', 1)).toEqual(['Z', 'a', 'a-b', 'a_b', 'ä', '😀', 'B', 'b'])
    expect(await list('a', 1)).toEqual(['a/x.d', 'a/x'])
    expect(await list('😀', 1)).toEqual(['😀/x'])
    expect(await list('', 2)).toContain('😀/x')
  })

  it('[FILE3] the characters of a pattern are characters of a name', async () => {
    await store(scope, ['100%/a', '100x/b', 'a_b/c', 'axb/d'])
    expect(await list('100%', 1)).toEqual(['100%/a'])
    expect(await list('a_b', 1)).toEqual(['a_b/c'])
  })

  it('[FILE3] 20,000 files are listed level by level, and cut at the limit as a whole', async () => {
    await store(
      scope,
      Array.from({ length: 20_000 }, (_, at) => `src/d${at % 100}/e${at % 1_000}/f${at}.ts`),
    )
    expect(await list('', 1)).toEqual(['src'])
    expect(await list('src', 1)).toHaveLength(100)
    expect(await list('src', 2)).toHaveLength(1_100)
    const all = await files.read(scope, { path: '', depth: 64, knownRevisions: [] })
    expect(all).toMatchObject({ truncated: true, entries: { length: 5_000 } })
  })

  it('[WS10] files of another workspace are not there', async () => {
    const other = await newWorkspace()
    await store(other, ['secret/a'])
    expect(await list('', 64)).toEqual([])
    await expect(files.read(scope, { path: 'secret', depth: 1, knownRevisions: [] })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    expect(await files.readText(scope, 'secret/a')).toBeNull()
    await files.refusePathConflicts(scope, ['secret', 'secret/a/b'])
  })

  it('[IMP8] a path that would be a file and a folder is a conflict', async () => {
    await store(scope, ['src/lib/a.ts', 'README.md'])
    const refused = (paths: string[]) =>
      expect(files.refusePathConflicts(scope, paths)).rejects.toMatchObject({ code: 'CONFLICT' })
    await refused(['src'])
    await refused(['x', 'src/lib'])
    await refused(['src/lib/a.ts/b'])
    await refused(['README.md/x/y'])
    await files.refusePathConflicts(scope, ['src/lib/a.ts', 'src/lib/b.ts', 'src/lib2', 'README', 'new/x'])
    await files.refusePathConflicts(scope, [])
  })
})
