import { type ApiError, type Client, createClient } from '@atelier/client'
import {
  addWorkspaceMember,
  changeWorkspaceMember,
  chat,
  createWorkspace,
  deleteWorkspace,
  getWorkspace,
  importIntoWorkspace,
  listWorkspaceMembers,
  listWorkspaces,
  readUsage,
  removeWorkspaceMember,
  renameWorkspace,
  type WorkspaceRole,
} from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

let server: TestServer
let ada: Person
let bob: Person
let cleo: Person

beforeAll(async () => {
  server = await startTestServer()
  ada = await signUpPerson(server.url, { name: 'Ada' })
  bob = await signUpPerson(server.url, { name: 'Bob' })
  cleo = await signUpPerson(server.url, { name: 'Cleo' })
})
afterAll(() => server[Symbol.asyncDispose]())

function as(headers: Record<string, string>): Client {
  return createClient({ baseUrl: server.url, headers, validateAnswers: true })
}

/** The error of a refused call: code, and the field where there is one. */
async function refusal(call: Promise<unknown>): Promise<{ code: string; field: unknown }> {
  const error = await call.then(
    () => expect.unreachable('the call succeeded'),
    (failure: ApiError) => failure,
  )
  return { code: error.code, field: error.details?.field }
}

async function newWorkspace(person = ada, name = 'Project'): Promise<string> {
  return (await as(person.headers).call(createWorkspace, { body: { name } })).id
}

function add(workspaceId: string, person: Person, role: WorkspaceRole) {
  return as(ada.headers).call(addWorkspaceMember, {
    params: { workspaceId },
    body: { email: person.email, role },
  })
}

describe('a workspace', () => {
  it('[WS4, WS9] is made, read, renamed and listed by its owner', async () => {
    const api = as(ada.headers)
    const created = await api.call(createWorkspace, { body: { name: '  Kysely  ' } })
    expect(created).toMatchObject({ name: 'Kysely', role: 'owner' })
    const params = { workspaceId: created.id }
    expect(await api.call(getWorkspace, { params })).toEqual(created)
    const renamed = await api.call(renameWorkspace, { params, body: { name: 'Kysely 2' } })
    expect(renamed).toMatchObject({ id: created.id, name: 'Kysely 2', createdAt: created.createdAt })
    expect(renamed.updatedAt > created.updatedAt).toBe(true)
    expect((await api.call(listWorkspaces)).items[0]).toEqual(renamed)
  })

  it.each([
    ['an empty name', { name: '   ' }, 'name'],
    ['a long name', { name: 'x'.repeat(101) }, 'name'],
    ['a wrong type', { name: 7 }, 'name'],
    ['no name', {}, 'name'],
    ['an unknown property', { name: 'x', owner: 'me' }, 'owner'],
  ])('[WS9, HTTP3] %s is refused by name', async (_title, body, field) => {
    const call = as(ada.headers).call(createWorkspace, { body: body as { name: string } })
    expect(await refusal(call)).toEqual({ code: 'VALIDATION_ERROR', field })
  })

  it('[HTTP4] broken JSON is refused', async () => {
    const headers = { ...ada.headers, 'content-type': 'application/json' }
    const response = await fetch(`${server.url}/api/workspaces`, {
      method: 'POST',
      headers,
      body: '{"name":',
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'INVALID_REQUEST' } })
  })

  it('[WS1] does not exist for others, whatever they try', async () => {
    const params = { workspaceId: await newWorkspace() }
    const api = as(bob.headers)
    const member = { workspaceId: params.workspaceId, userId: ada.user.id }
    const body = { name: 'Mine now' }
    for (const call of [
      () => api.call(getWorkspace, { params }),
      () => api.call(renameWorkspace, { params, body }),
      () => api.call(deleteWorkspace, { params }),
      () => api.call(listWorkspaceMembers, { params }),
      () => api.call(addWorkspaceMember, { params, body: { email: bob.email, role: 'owner' } }),
      () => api.call(changeWorkspaceMember, { params: member, body: { role: 'viewer' } }),
      () => api.call(removeWorkspaceMember, { params: member }),
    ]) {
      expect(await refusal(call())).toMatchObject({ code: 'NOT_FOUND' })
    }
    const listed = (await api.call(listWorkspaces)).items.map(({ id }) => id)
    expect(listed).not.toContain(params.workspaceId)
  })

  it('[WS1] an id that nothing has, and one that is none, are told apart', async () => {
    const api = as(ada.headers)
    const missing = api.call(getWorkspace, { params: { workspaceId: 'ws_01JD8XQ4ZK3V5N6P7R8S9T0ABC' } })
    expect(await refusal(missing)).toMatchObject({ code: 'NOT_FOUND' })
    const malformed = api.call(getWorkspace, { params: { workspaceId: "ws_1' or true" } })
    expect(await refusal(malformed)).toEqual({ code: 'VALIDATION_ERROR', field: 'workspaceId' })
  })

  it('[WS8] is gone when it was deleted, for every member', async () => {
    const params = { workspaceId: await newWorkspace() }
    await add(params.workspaceId, bob, 'editor')
    expect(await as(ada.headers).call(deleteWorkspace, { params })).toEqual({ id: params.workspaceId })
    for (const person of [ada, bob]) {
      expect(await refusal(as(person.headers).call(getWorkspace, { params }))).toMatchObject({
        code: 'NOT_FOUND',
      })
    }
  })
})

describe('the list of workspaces', () => {
  it('[WS5] is paged newest first, with the caller’s own role', async () => {
    const person = await signUpPerson(server.url)
    const api = as(person.headers)
    const ids: string[] = []
    for (let at = 0; at < 5; at += 1) ids.unshift(await newWorkspace(person, `w${at}`))
    const first = await api.call(listWorkspaces, { query: { limit: 2 } })
    const second = await api.call(listWorkspaces, { query: { limit: 2, cursor: first.nextCursor ?? '' } })
    const third = await api.call(listWorkspaces, { query: { limit: 2, cursor: second.nextCursor ?? '' } })
    expect([first, second, third].flatMap(({ items }) => items.map(({ id }) => id))).toEqual(ids)
    expect(third.nextCursor).toBeNull()
    const shared = await newWorkspace()
    await as(ada.headers).call(addWorkspaceMember, {
      params: { workspaceId: shared },
      body: { email: person.email, role: 'viewer' },
    })
    expect((await api.call(listWorkspaces)).items[0]).toMatchObject({ id: shared, role: 'viewer' })
  })

  it.each([
    ['a cursor of nothing', { cursor: 'bm90aGluZw' }, 'cursor'],
    ['a limit of 0', { limit: 0 }, 'limit'],
    ['a limit of 1000', { limit: 1000 }, 'limit'],
    ['an unknown parameter', { page: 2 }, 'page'],
  ])('[WS5] %s is refused', async (_title, query, field) => {
    const call = as(ada.headers).call(listWorkspaces, { query: query as { limit: number } })
    expect(await refusal(call)).toEqual({ code: 'VALIDATION_ERROR', field })
  })
})

describe('members', () => {
  let params: { workspaceId: string }
  beforeEach(async () => {
    params = { workspaceId: await newWorkspace() }
  })
  const memberOf = (person: Person) => ({ ...params, userId: person.user.id })

  it('[WS6] are added by the address of their account, however it is spelt, and listed', async () => {
    const email = ` ${bob.email.toUpperCase()}`.trim()
    const added = await as(ada.headers).call(addWorkspaceMember, { params, body: { email, role: 'editor' } })
    expect(added).toEqual({ userId: bob.user.id, name: 'Bob', email: bob.email, role: 'editor' })
    const listed = await as(bob.headers).call(listWorkspaceMembers, { params })
    expect(listed.items).toEqual([
      { userId: ada.user.id, name: 'Ada', email: ada.email, role: 'owner' },
      added,
    ])
  })

  it('[WS6] an unknown address names the field; a member is not added twice', async () => {
    const nobody = as(ada.headers).call(addWorkspaceMember, {
      params,
      body: { email: 'nobody@example.com', role: 'viewer' },
    })
    expect(await refusal(nobody)).toEqual({ code: 'VALIDATION_ERROR', field: 'email' })
    expect(await refusal(add(params.workspaceId, ada, 'viewer'))).toMatchObject({ code: 'CONFLICT' })
    const wrong = { email: 'x', role: 'king' as 'owner' }
    expect(await refusal(as(ada.headers).call(addWorkspaceMember, { params, body: wrong }))).toMatchObject({
      code: 'VALIDATION_ERROR',
    })
  })

  it('[WS2, WS6] an editor reads and leaves, but neither renames, adds nor removes', async () => {
    await add(params.workspaceId, bob, 'editor')
    await add(params.workspaceId, cleo, 'viewer')
    const api = as(bob.headers)
    expect(await api.call(getWorkspace, { params })).toMatchObject({ role: 'editor' })
    for (const call of [
      () => api.call(renameWorkspace, { params, body: { name: 'x' } }),
      () => api.call(deleteWorkspace, { params }),
      () => api.call(addWorkspaceMember, { params, body: { email: cleo.email, role: 'owner' } }),
      () => api.call(changeWorkspaceMember, { params: memberOf(bob), body: { role: 'owner' } }),
      () => api.call(removeWorkspaceMember, { params: memberOf(cleo) }),
    ]) {
      expect(await refusal(call())).toMatchObject({ code: 'FORBIDDEN' })
    }
    expect(await api.call(removeWorkspaceMember, { params: memberOf(bob) })).toEqual({ userId: bob.user.id })
    expect(await refusal(api.call(getWorkspace, { params }))).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('[WS7] the last owner neither leaves nor steps down, until there is another', async () => {
    const api = as(ada.headers)
    const demoted = () => api.call(changeWorkspaceMember, { params: memberOf(ada), body: { role: 'viewer' } })
    expect(await refusal(demoted())).toMatchObject({ code: 'CONFLICT' })
    expect(await refusal(api.call(removeWorkspaceMember, { params: memberOf(ada) }))).toMatchObject({
      code: 'CONFLICT',
    })
    await add(params.workspaceId, bob, 'owner')
    expect(await demoted()).toMatchObject({ role: 'viewer' })
    expect(await refusal(demoted())).toMatchObject({ code: 'FORBIDDEN' })
  })

  it('[WS7] of two owners who demote each other at once, one stays', async () => {
    await add(params.workspaceId, bob, 'owner')
    const results = await Promise.allSettled([
      as(ada.headers).call(changeWorkspaceMember, { params: memberOf(bob), body: { role: 'viewer' } }),
      as(bob.headers).call(changeWorkspaceMember, { params: memberOf(ada), body: { role: 'viewer' } }),
    ])
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
    const { items } = await as(ada.headers).call(listWorkspaceMembers, { params })
    expect(items.filter(({ role }) => role === 'owner')).toHaveLength(1)
  })

  it('[WS6] changing or removing who is no member is 404', async () => {
    const api = as(ada.headers)
    const change = api.call(changeWorkspaceMember, { params: memberOf(cleo), body: { role: 'viewer' } })
    expect(await refusal(change)).toMatchObject({ code: 'NOT_FOUND' })
    expect(await refusal(api.call(removeWorkspaceMember, { params: memberOf(cleo) }))).toMatchObject({
      code: 'NOT_FOUND',
    })
  })
})

describe('an API key', () => {
  it('[WS3] for one workspace sees that one, makes none, and keeps the role of its person', async () => {
    const workspaceId = await newWorkspace()
    const other = await newWorkspace()
    const api = as({ 'x-api-key': await ada.apiKey({ workspaceIds: [workspaceId] }) })
    expect((await api.call(listWorkspaces)).items.map(({ id }) => id)).toEqual([workspaceId])
    expect(await api.call(getWorkspace, { params: { workspaceId } })).toMatchObject({ role: 'owner' })
    expect(await refusal(api.call(getWorkspace, { params: { workspaceId: other } }))).toMatchObject({
      code: 'NOT_FOUND',
    })
    expect(await refusal(api.call(createWorkspace, { body: { name: 'x' } }))).toMatchObject({
      code: 'FORBIDDEN',
    })
    const person = as(ada.headers)
    for (const id of [workspaceId, other])
      await person.call(chat, {
        body: { messages: [{ role: 'user', content: 'Hi' }], model: 'local', workspaceId: id },
      })
    const usedIn = async (by: Client) =>
      (await by.call(readUsage, { query: {} })).byWorkspace.map((row) => row.workspaceId)
    await expect.poll(() => usedIn(person)).toEqual(expect.arrayContaining([workspaceId, other]))
    expect(await usedIn(api)).toEqual([workspaceId])
    const form = new FormData()
    form.append('files', new File(['x'], 'x.ts'))
    const reading = as({ 'x-api-key': await ada.apiKey({ scopes: ['workspaces:read'] }) })
    expect(await refusal(reading.call(importIntoWorkspace, { params: { workspaceId }, form }))).toMatchObject(
      { code: 'FORBIDDEN' },
    )
  })
})
