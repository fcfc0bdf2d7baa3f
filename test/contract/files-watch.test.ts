import { type Client, createClient } from '@atelier/client'
import {
  addWorkspaceMember,
  createFile,
  type DirectoryChange,
  getWorkspaceStatus,
  moveFile,
  stopWorkspace,
  watchFiles,
} from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noBubblewrap } from '../integration/runtime-support/runtimes.ts'
import { type LiveWorkspace, openLiveWorkspace } from './live-workspace.ts'
import { runIn } from './run-in-workspace.ts'

describe.skipIf(noBubblewrap())('the events of a workspace’s files', () => {
  let server: TestServer
  let ada: Person
  let place: LiveWorkspace
  let leaving: AbortController

  beforeAll(async () => {
    server = await startTestServer()
    ada = await signUpPerson(server.url)
  })
  afterAll(() => server?.[Symbol.asyncDispose]())
  beforeEach(async () => {
    place = await openLiveWorkspace(server.url, ada)
    leaving = new AbortController()
  })
  afterEach(() => leaving.abort())

  const create = (path: string) => place.api.call(createFile, { body: inPlace({ path }) })
  const inPlace = <Body extends object>(body: Body) => ({ workspaceId: place.workspaceId, ...body })
  const params = () => ({ params: { workspaceId: place.workspaceId } })

  /** Listens, and collects what is told. */
  async function listen(): Promise<DirectoryChange[]> {
    const { events } = await place.api.stream(watchFiles, params(), { signal: leaving.signal })
    const told: DirectoryChange[] = []
    void (async () => {
      for await (const { event } of events) told.push(event)
    })().catch((error: unknown) => {
      if (!leaving.signal.aborted) throw error
    })
    await expect.poll(() => told.length).toBeGreaterThan(0)
    return told
  }
  /** Somebody else who may see the workspace. */
  async function enter(): Promise<Client> {
    const { email, headers } = await signUpPerson(server.url)
    await place.api.call(addWorkspaceMember, { ...params(), body: { email, role: 'viewer' } })
    return createClient({ baseUrl: server.url, headers })
  }
  const pathsOf = (told: DirectoryChange[]) => told.flatMap(({ paths }) => paths)
  const watched = (told: DirectoryChange[]) => expect.poll(() => told.at(-1)?.watching).toBe('native')

  it('[FILE26] tell what the interface and what programs change', async () => {
    await create('first.txt')
    const told = await listen()
    expect(told[0]).toMatchObject({ all: true, paths: [] })
    await watched(told)
    await create('src/a.ts')
    await expect.poll(() => pathsOf(told)).toContain('src/a.ts')
    await runIn(server.url, ada, { ...inPlace({}), script: 'rm first.txt; echo x > from-a-program' })
    await expect.poll(() => pathsOf(told)).toEqual(expect.arrayContaining(['first.txt', 'from-a-program']))
    await place.api.call(moveFile, { body: inPlace({ from: 'src', to: 'lib' }) })
    await expect.poll(() => pathsOf(told)).toEqual(expect.arrayContaining(['src', 'lib']))
  })

  it('[FILE26] tell that anything may have changed where it is too much to name', async () => {
    await create('first.txt')
    const told = await listen()
    await watched(told)
    const before = told.length
    await runIn(server.url, ada, {
      ...inPlace({}),
      script: 'mkdir many && cd many && seq 20000 | xargs touch',
    })
    await expect.poll(() => told.slice(before).some(({ all }) => all)).toBe(true)
    for (const { paths } of told) expect(paths.length).toBeLessThanOrEqual(1_000)
  })

  it('[FILE26] are told to 200 at a time, 20 of one user, and to another as soon as one has left', async () => {
    const askAs = (api: Client) => api.stream(watchFiles, params(), { signal: leaving.signal })
    const statusFor = (api: Client) => askAs(api).catch(({ status }: { status: number }) => status)
    const ask = () => askAs(place.api)
    const first = new AbortController()
    const begun = await place.api.stream(watchFiles, params(), { signal: first.signal })
    await begun.events[Symbol.asyncIterator]().next()
    await Promise.all(Array.from({ length: 19 }, ask))
    await expect.poll(() => statusFor(place.api)).toBe(429)
    const others = await Promise.all(Array.from({ length: 10 }, enter))
    await Promise.all(others.slice(1).flatMap((api) => Array.from({ length: 20 }, () => askAs(api))))
    await expect.poll(() => statusFor(others[0] as Client)).toBe(429)
    first.abort()
    await expect
      .poll(() =>
        ask().then(
          () => 'let in',
          () => 'full',
        ),
      )
      .toBe('let in')
  })

  it('[FILE26] neither start a workspace nor miss its start and its stop', async () => {
    const told = await listen()
    expect(told).toEqual([{ all: true, paths: [], watching: null, reason: null }])
    expect((await place.api.call(getWorkspaceStatus, params())).state).toBe('stopped')
    await create('a.txt')
    await watched(told)
    expect(told.at(-1)).toMatchObject({ all: true })
    await place.api.call(stopWorkspace, params())
    await expect.poll(() => told.at(-1)).toEqual({ all: true, paths: [], watching: null, reason: null })
  })
})
