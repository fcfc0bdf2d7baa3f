import { describeOnEveryDatabase, openTestDatabase } from '@atelier/testkit'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { newId } from '../../packages/server/src/base/ids.ts'
import { admitImport } from '../../packages/server/src/features/workspaces/imports.ts'
import { createMemberStore } from '../../packages/server/src/features/workspaces/member-store.ts'
import { createWorkspaceStore } from '../../packages/server/src/features/workspaces/workspace-store.ts'
import type { Database } from '../../packages/server/src/platform/db/database.ts'
import {
  grantWorkspaceScope,
  type WorkspaceScope,
} from '../../packages/server/src/platform/identity/workspace-scope.ts'
import { maxActiveJobsPerUser } from '../../packages/server/src/platform/jobs/job-limits.ts'
import { createJobQueue } from '../../packages/server/src/platform/jobs/job-queue.ts'

describeOnEveryDatabase('workspaces', (engine) => {
  let database: Database
  let ada: string
  let bob: string
  let workspaceId: string
  let scope: WorkspaceScope

  beforeAll(async () => {
    database = await openTestDatabase(engine)
  })
  afterAll(() => database[Symbol.asyncDispose]())
  beforeEach(async () => {
    ada = await newUser()
    bob = await newUser()
    workspaceId =
      (await createWorkspaceStore({ database }).create({ userId: ada, name: 'w', maxOwned: 9 }))?.id ?? ''
    scope = grantWorkspaceScope({ workspaceId, userId: ada, role: 'owner' })
  })

  async function newUser(): Promise<string> {
    const id = newId('user')
    await database.kysely
      .insertInto('users')
      .values({ id, name: id, email: `${id.toLowerCase()}@example.com`, image: null })
      .execute()
    return id
  }

  it('[WS7] of two owners who demote or remove each other at once, one stays, every time', async () => {
    const members = createMemberStore({ database })
    for (let round = 0; round < 10; round += 1) {
      await database.kysely.updateTable('workspace_members').set({ role: 'owner' }).execute()
      await members.add(scope, { userId: bob, role: 'owner' }, 9)
      const demote = (userId: string) => members.changeRole(scope, { userId, role: 'viewer' })
      const remove = (userId: string) => members.remove(scope, userId)
      const [one, other] = round % 2 === 0 ? [demote, demote] : [demote, remove]
      const changes = await Promise.all([one(ada), other(bob)])
      expect(changes.sort()).toEqual(['done', 'last-owner'])
      const owners = (await members.list(scope)).filter(({ role }) => role === 'owner')
      expect(owners).toHaveLength(1)
      await database.kysely.deleteFrom('workspace_members').where('user_id', '=', bob).execute()
      await database.kysely
        .insertInto('workspace_members')
        .values({ workspace_id: workspaceId, user_id: ada, role: 'owner' })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    }
  })

  it('[WS4, WS6] a limit holds against parallel requests', async () => {
    const store = createWorkspaceStore({ database })
    const made = await Promise.all(
      Array.from({ length: 6 }, () => store.create({ userId: bob, name: 'w', maxOwned: 3 })),
    )
    expect(made.filter((workspace) => workspace !== null)).toHaveLength(3)
    const members = createMemberStore({ database })
    const users = await Promise.all(Array.from({ length: 4 }, newUser))
    const added = await Promise.all(users.map((userId) => members.add(scope, { userId, role: 'viewer' }, 3)))
    expect(added.sort()).toEqual(['done', 'done', 'full', 'full'])
  })

  it('[WS10] a transaction of one workspace sees and changes no row of another', async () => {
    const other = await createWorkspaceStore({ database }).create({ userId: bob, name: 'other', maxOwned: 9 })
    await database.inWorkspace(scope, async (transaction) => {
      expect(await transaction.selectFrom('workspaces').select('id').execute()).toEqual([{ id: workspaceId }])
      expect(await transaction.selectFrom('workspace_members').select('user_id').execute()).toEqual([
        { user_id: ada },
      ])
      await transaction.updateTable('workspaces').set({ name: 'taken' }).execute()
      await transaction.deleteFrom('workspace_members').where('user_id', '=', bob).execute()
      await transaction
        .deleteFrom('workspaces')
        .where('id', '=', other?.id ?? '')
        .execute()
    })
    const rows = await database.kysely
      .selectFrom('workspaces')
      .select('name')
      .where('id', '=', other?.id ?? '')
      .execute()
    expect(rows).toEqual([{ name: 'other' }])
    const smuggled = database.inWorkspace(scope, (transaction) =>
      transaction
        .insertInto('workspace_members')
        .values({ workspace_id: other?.id ?? '', user_id: ada, role: 'owner' })
        .execute(),
    )
    await expect(smuggled).rejects.toMatchObject({ code: '42501' })
  })

  it('[WS8] deleting a workspace takes its members and jobs along', async () => {
    await database.kysely
      .insertInto('jobs')
      .values({
        id: newId('job'),
        workspace_id: workspaceId,
        kind: 'import',
        input: '{}',
        phase: 'p',
        unit: 'files',
        attempts_left: 1,
      })
      .execute()
    await createWorkspaceStore({ database }).delete(scope)
    for (const table of ['workspace_members', 'jobs'] as const) {
      expect(
        await database.kysely.selectFrom(table).selectAll().where('workspace_id', '=', workspaceId).execute(),
      ).toEqual([])
    }
    expect(await createWorkspaceStore({ database }).find(scope)).toBeNull()
    expect(await createMemberStore({ database }).remove(scope, ada)).toBe('gone')
  })

  it('[IMP15] who has too many jobs under way is asked to wait, before anything is read', async () => {
    const jobs = createJobQueue({ database, node: 'here', logger: { info() {}, warn() {}, error() {} } })
    jobs.handle({ kind: 'import', unit: 'files', run: async () => ({}) })
    const waiting = { kind: 'import', input: {}, phase: 'waiting' } as const
    for (let at = 0; at < maxActiveJobsPerUser; at += 1) {
      await admitImport(jobs, scope)
      await jobs.enqueue(scope, waiting)
    }
    await expect(admitImport(jobs, scope)).rejects.toMatchObject({ code: 'CONFLICT' })
    await admitImport(jobs, grantWorkspaceScope({ workspaceId, userId: bob, role: 'editor' }))
    await jobs.cancelAll(scope)
    await admitImport(jobs, scope)
  })

  it('[WS1] the guard finds the role of a member, and none of a stranger', async () => {
    const store = createWorkspaceStore({ database })
    expect(await store.findRole(workspaceId, ada)).toBe('owner')
    expect(await store.findRole(workspaceId, bob)).toBeNull()
  })
})
