import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@atelier/client'
import {
  createWorkspace,
  importIntoWorkspace,
  type Job,
  listWorkspaceJobs,
  readFiles,
  searchWorkspace,
  uploadFiles,
  watchWorkspaceJob,
} from '@atelier/contract'
import {
  createDatabaseSite,
  type DatabaseSite,
  describeOnEveryDatabase,
  type Person,
  signUpPerson,
  tarGzOf,
} from '@atelier/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ServerProcess, startServerProcess } from './server-process.ts'

/** Enough that an import takes seconds, so that it can be killed in the middle. */
const files = Array.from({ length: 300 }, (_, at) => ({
  name: `p/src/folder-${at % 20}/file-${at}.ts`,
  content: Array.from(
    { length: 6 },
    (_, line) => `export function f${at}x${line}(a: number) {\n  return a + ${line}\n}\n`,
  ).join('\n'),
}))

describeOnEveryDatabase('a server that is killed', (engine) => {
  let directory: string
  let site: DatabaseSite
  let server: ServerProcess
  let ada: Person
  let workspaceId: string

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'atelier-crash-'))
    site = await createDatabaseSite(engine, 'nothing')
    server = await start()
    ada = await signUpPerson(server.url)
    workspaceId = (await api().call(createWorkspace, { body: { name: 'Crash' } })).id
  })
  afterEach(async () => {
    await server[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
  })

  function start(): Promise<ServerProcess> {
    const { databaseUrl } = site.place
    return startServerProcess({
      ATELIER_DATA_DIR: directory,
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    })
  }

  /** The session outlives the process, like everything that was acknowledged. */
  function api(): Client {
    const headers = { cookie: ada.cookie, origin: server.url }
    return createClient({ baseUrl: server.url, headers })
  }

  async function sendImport(): Promise<Job> {
    const form = new FormData()
    form.append('files', new File([new Uint8Array(await tarGzOf(files))], 'p.tgz'))
    return (await api().call(importIntoWorkspace, { params: { workspaceId }, form })).job
  }

  async function watch(jobId: string) {
    const { events } = await api().stream(watchWorkspaceJob, { params: { workspaceId, jobId } })
    return events
  }

  async function expectAllThere(): Promise<void> {
    const listing = await api().call(readFiles, { query: { workspaceId, depth: 64 } })
    if (listing.kind !== 'directory') return expect.unreachable('the root is a file')
    const paths = listing.entries.filter(({ kind }) => kind === 'file').map(({ path }) => `p/${path}`)
    expect(paths.sort()).toEqual(files.map(({ name }) => name).sort())
    for (const { name, content } of [files[0], files.at(-1)] as typeof files) {
      const read = await api().call(readFiles, { query: { workspaceId, path: name.slice(2) } })
      expect(read).toMatchObject({ kind: 'file', content })
    }
  }

  it('[IMP14, JOB7, JOB8] an acknowledged import is finished, whether the server is killed or stopped meanwhile', async () => {
    const job = await sendImport()
    await server.kill()
    server = await start()
    let last: Job | undefined
    let stopped: Promise<number | null> | undefined
    for await (const { event } of await watch(job.id)) {
      last = event
      if (event.progress.done > 0) stopped ??= server.stop()
    }
    expect(await stopped).toBe(0)
    // The stream has ended with the server, unless the import was quicker than the stop.
    expect(['queued', 'running', 'succeeded']).toContain(last?.state)
    server = await start()
    const seen = await Array.fromAsync(await watch(job.id))
    const ended = seen.at(-1)?.event
    expect(ended).toMatchObject({ state: 'succeeded', report: { totals: { files: 300, failed: 0 } } })
    await expectAllThere()
    await expect.poll(() => readdir(join(directory, 'imports'))).toEqual([])
  }, 120_000)

  it('[IMP14] a server that is killed during an upload has no job and starts again', async () => {
    const sending = sendImport().then(
      () => 'answered',
      () => 'cut off',
    )
    await server.kill()
    const outcome = await sending
    server = await start()
    const { items } = await api().call(listWorkspaceJobs, { params: { workspaceId } })
    if (outcome === 'answered') expect(items).toHaveLength(1)
    for (const { id } of items) {
      const seen = await Array.fromAsync(await watch(id))
      expect(seen.at(-1)?.event).toMatchObject({ state: 'succeeded' })
    }
  }, 120_000)

  it('[DB22] killed at any moment, it starts again and has every write that was acknowledged', async () => {
    const acknowledged: { workspaceId: string; path: string }[] = []
    /** Writes one after another until the server is gone. */
    const write = async () => {
      for (;;) {
        const { id } = await api().call(createWorkspace, { body: { name: 'Acknowledged' } })
        const path = `${id}.ts`
        const form = new FormData()
        form.append('workspaceId', id)
        form.append('files', new File([`export const id = '${id}'\n`], path))
        await api().call(uploadFiles, { form })
        acknowledged.push({ workspaceId: id, path })
      }
    }
    for (const wanted of [1, 3, 6, 10]) {
      const writers = [write(), write()].map((writing) => writing.catch((error: unknown) => error))
      await expect
        .poll(() => acknowledged.length, { interval: 1, timeout: 60_000 })
        .toBeGreaterThanOrEqual(wanted)
      await server.kill()
      await Promise.all(writers)
      server = await start()
      for (const { workspaceId: id, path } of acknowledged) {
        const read = await api().call(readFiles, { query: { workspaceId: id, path } })
        expect(read).toMatchObject({ kind: 'file', content: `export const id = '${id}'\n` })
        const found = await api().call(searchWorkspace, { body: { workspaceId: id, query: id } })
        expect(found.results.map((result) => result.path)).toEqual([path])
      }
    }
  }, 240_000)
})
