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
  watchWorkspaceJob,
} from '@atelier/contract'
import { type Person, signUpPerson, tarGzOf } from '@atelier/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ServerProcess, startServerProcess } from './server-process.ts'

let directory: string
let server: ServerProcess
let ada: Person
let workspaceId: string

/** Enough that an import takes seconds, so that it can be killed in the middle. */
const files = Array.from({ length: 300 }, (_, at) => ({
  name: `p/src/folder-${at % 20}/file-${at}.ts`,
  content: Array.from(
    { length: 6 },
    (_, line) => `export function f${at}x${line}(a: number) {\n  return a + ${line}\n}\n`,
  ).join('\n'),
}))

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atelier-crash-'))
  server = await start()
  ada = await signUpPerson(server.url)
  workspaceId = (await api().call(createWorkspace, { body: { name: 'Crash' } })).id
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

function start(): Promise<ServerProcess> {
  return startServerProcess({ ATELIER_DATA_DIR: directory })
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
  // The stream has ended with the server, not with the job.
  expect(await stopped).toBe(0)
  expect(['queued', 'running']).toContain(last?.state)
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
