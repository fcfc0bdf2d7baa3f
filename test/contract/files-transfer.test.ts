import { randomBytes } from 'node:crypto'
import {
  addWorkspaceMember,
  changeFiles,
  createFile,
  deleteFile,
  exportWorkspace,
  getWorkspaceJob,
  importIntoWorkspace,
  listLimits,
  moveFile,
  readFiles,
  readRawFile,
  replaceFile,
  searchFiles,
} from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noBubblewrap } from '../integration/runtime-support/runtimes.ts'
import { fileCalls, revisionOf } from './file-calls.ts'
import { type LiveWorkspace, openLiveWorkspace } from './live-workspace.ts'
import { runIn } from './run-in-workspace.ts'

describe.skipIf(noBubblewrap())('the files of a workspace as a whole', () => {
  let server: TestServer
  let ada: Person
  let place: LiveWorkspace

  beforeAll(async () => {
    server = await startTestServer()
    ada = await signUpPerson(server.url)
  })
  afterAll(() => server?.[Symbol.asyncDispose]())
  beforeEach(async () => {
    place = await openLiveWorkspace(server.url, ada)
  })

  const { create, read, shell, list } = fileCalls(() => ({ url: server.url, person: ada, place }))

  describe('an export', () => {
    async function digest(at: LiveWorkspace) {
      const { data } = await at.send(readFiles, { query: { depth: '64', revisions: 'true' } })
      return (data.entries as Record<string, unknown>[]).map(({ path, kind, revision, executable }) => [
        path,
        kind,
        revision,
        executable,
      ])
    }

    it.each(['tar.gz', 'zip'] as const)(
      '[FILE18, IMP16] as %s, imported elsewhere, is the same tree',
      async (format) => {
        await create('src/ä/a.ts', 'export const a = 1\n')
        await create('run.sh', '#!/bin/sh\n', { executable: true })
        await create('data.bin', randomBytes(50_000).toString('base64'), { encoding: 'base64' })
        await create('empty.txt', '')
        await create('leer/tief', '', { kind: 'directory' })
        await shell('ln -s src link')
        const packed = await place.send(exportWorkspace, { query: { format } })
        expect(packed.status).toBe(200)
        expect(packed.headers.get('content-disposition')).toContain(`${place.workspaceId}.${format}`)
        expect(packed.headers.get('content-security-policy')).toMatch(/^sandbox/)

        const other = await openLiveWorkspace(server.url, ada)
        const form = new FormData()
        form.append('stripRoot', 'false')
        form.append('files', new File([new Uint8Array(packed.bytes)], `x.${format}`))
        const params = { workspaceId: other.workspaceId }
        const { job } = await other.api.call(importIntoWorkspace, { params, form })
        await finished(other, job.id)
        expect(await digest(other)).toEqual((await digest(place)).filter(([path]) => path !== 'link'))
      },
    )

    it('[FILE18] can be of one folder, and without what is ignored', async () => {
      await create('src/a.ts', 'a')
      await create('src/out/b.js', 'b')
      await create('.gitignore', 'out\n')
      const query = { path: 'src', gitignore: 'true' }
      const packed = await place.send(exportWorkspace, { query })
      const { stdout } = await runIn(server.url, ada, {
        workspaceId: place.workspaceId,
        script: 'base64 -d | tar tz',
        input: packed.bytes.toString('base64'),
      })
      expect(stdout.trim().split('\n')).toEqual(['a.ts'])
      expect((await place.send(exportWorkspace, { query: { path: 'no' } })).status).toBe(404)
    })
  })

  it('[IMP16] an import leaves files alone that are there with the same content, and others’ permissions', async () => {
    await create('a.txt', 'same', { executable: true })
    await create('b.txt', 'old')
    const before = new Map((await list()).map((entry) => [entry.path, entry]))
    const form = new FormData()
    form.append('stripRoot', 'false')
    for (const [name, content] of [
      ['a.txt', 'same'],
      ['b.txt', 'new'],
    ] as const)
      form.append('files', new File([content], name))
    const { job } = await place.api.call(importIntoWorkspace, {
      params: { workspaceId: place.workspaceId },
      form,
    })
    await finished(place, job.id)
    const after = new Map((await list()).map((entry) => [entry.path, entry]))
    expect(after.get('a.txt')).toMatchObject({
      modifiedAt: before.get('a.txt')?.modifiedAt,
      executable: true,
    })
    expect((await read('b.txt')).data.content).toBe('new')
  })

  it('[FILE21] a viewer reads and changes nothing; a key does what its scopes say', async () => {
    await create('a.txt', 'one')
    const bob = await signUpPerson(server.url)
    const { workspaceId } = place
    const member = { email: bob.email, role: 'viewer' } as const
    await place.api.call(addWorkspaceMember, { params: { workspaceId }, body: member })
    const statuses = async (headers: Record<string, string>) => {
      const sent = { ...headers, 'content-type': 'application/json' }
      const body = JSON.stringify({ workspaceId, path: 'b.txt' })
      const read = await fetch(`${server.url}/api/files?workspaceId=${workspaceId}&path=a.txt`, { headers })
      const write = await fetch(`${server.url}/api/files`, { method: 'POST', headers: sent, body })
      return [read.status, write.status]
    }
    expect(await statuses(bob.headers)).toEqual([200, 403])
    expect(await statuses({ 'x-api-key': await ada.apiKey({ scopes: ['files:read'] }) })).toEqual([200, 403])
    expect(await statuses({ 'x-api-key': await ada.apiKey({ scopes: ['files:write'] }) })).toEqual([403, 201])
  })

  it('[FILE24] every limit is listed', async () => {
    const { items } = await place.api.call(listLimits, {})
    expect(items.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'body.file',
        'file.content',
        'export',
        'files.batch',
        'files.matches',
        'files.indexed',
      ]),
    )
  })

  async function finished({ api, workspaceId }: LiveWorkspace, jobId: string): Promise<void> {
    await expect
      .poll(async () => (await api.call(getWorkspaceJob, { params: { workspaceId, jobId } })).state, {
        timeout: 20_000,
      })
      .toBe('succeeded')
  }
})

describe('where workspaces cannot be started', () => {
  it('[FILE19, FILE23] files are read as they were imported, and nothing else works, with the remedy', async () => {
    await using server = await startTestServer({ environment: { PATH: '/nonexistent' } })
    const ada = await signUpPerson(server.url)
    const place = await openLiveWorkspace(server.url, ada)
    const { workspaceId } = place
    const form = new FormData()
    form.append('files', new File(['export const a = 1\n'], 'src/a.ts'))
    form.append('files', new File([Buffer.from([0, 1])], 'b.bin'))
    const { job } = await place.api.call(importIntoWorkspace, { params: { workspaceId }, form })
    await expect
      .poll(
        async () => (await place.api.call(getWorkspaceJob, { params: { workspaceId, jobId: job.id } })).state,
      )
      .toBe('succeeded')
    expect((await place.send(readFiles, { query: { path: 'src/a.ts' } })).data).toMatchObject({
      content: 'export const a = 1\n',
    })
    expect((await place.send(readFiles, { query: { depth: '2', glob: '*.ts' } })).data).toMatchObject({
      entries: [{ path: 'src/a.ts', indexing: 'indexed', revision: revisionOf('export const a = 1\n') }],
    })
    const refused = [
      place.send(createFile, { body: { path: 'x' } }),
      place.send(replaceFile, { body: { path: 'x', content: '', baseRevision: null } }),
      place.send(moveFile, { body: { from: 'src', to: 'x' } }),
      place.send(deleteFile, { query: { path: 'src', recursive: 'true' } }),
      place.send(changeFiles, { body: { operations: [{ op: 'create', path: 'x' }] } }),
      place.send(searchFiles, { query: { query: 'a' } }),
      place.send(readRawFile, { query: { path: 'src/a.ts' } }),
      place.send(exportWorkspace, {}),
    ]
    for (const answer of await Promise.all(refused)) {
      expect(answer).toMatchObject({
        status: 503,
        error: {
          code: 'SERVICE_UNAVAILABLE',
          message: expect.stringContaining('apt-get install bubblewrap'),
        },
      })
    }
  })
})
