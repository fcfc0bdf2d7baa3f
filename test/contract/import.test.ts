import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createClient } from '@atelier/client'
import {
  addWorkspaceMember,
  cancelWorkspaceJob,
  deleteWorkspace,
  getWorkspaceJob,
  importIntoWorkspace,
  type Job,
  listWorkspaceJobs,
  maxImportBytes,
  readFiles,
  removeWorkspaceMember,
} from '@atelier/contract'
import {
  type Person,
  signUpPerson,
  startTestServer,
  type TestServer,
  tarGzOf,
  tarOf,
  zipOf,
} from '@atelier/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { formOf, openWorkplace, type Part, refusal, type Workplace } from './import-requests.ts'

let server: TestServer
let ada: Person
let place: Workplace

beforeAll(async () => {
  server = await startTestServer()
  ada = await signUpPerson(server.url)
})
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(async () => {
  place = await openWorkplace(server.url, ada)
})

async function textOf(path: string): Promise<string> {
  const data = await place.api.call(readFiles, { query: { workspaceId: place.workspaceId, path } })
  return data.kind === 'file' ? data.content : expect.unreachable(`${path} is a directory`)
}

async function pathsIn(path = ''): Promise<string[]> {
  const query = { workspaceId: place.workspaceId, path, depth: 64 }
  const data = await place.api.call(readFiles, { query })
  if (data.kind !== 'directory') return expect.unreachable(`${path} is a file`)
  return data.entries.filter(({ kind }) => kind === 'file').map((entry) => entry.path)
}

/** What is on disk of uploads: received forms, and imports that wait for their job. */
async function leftovers(): Promise<string[]> {
  const names = await Promise.all(
    ['staging', 'imports'].map((folder) =>
      readdir(join(server.dataDirectory, folder)).catch(() => [] as string[]),
    ),
  )
  return names.flat()
}

/** The part of an import's report that is looked at by path. */
interface Report {
  skipped: { path: string; reason: string }[]
}

const project = [
  ['p/src/main.ts', 'export const main = 1\n'],
  ['p/README.md', '# Project\n'],
] as const

const entries = project.map(([name, content]) => ({ name, content }))

describe('an import', () => {
  it.each([
    ['a zip', async (): Promise<Part[]> => [['p.zip', zipOf(entries)]]],
    ['a tar.gz', async (): Promise<Part[]> => [['p.tgz', await tarGzOf(entries)]]],
    ['a tar', async (): Promise<Part[]> => [['p.tar', await tarOf(entries)]]],
    ['an archive with another name', async (): Promise<Part[]> => [['download', zipOf(entries)]]],
    ['many files', async (): Promise<Part[]> => [...project]],
  ])('[IMP1, IMP2] of %s stores its files under their relative paths', async (_title, make) => {
    const job = await place.import(await make())
    expect(job).toMatchObject({
      kind: 'import',
      state: 'succeeded',
      progress: { done: 2, total: 2, unit: 'files' },
      report: { root: 'p', totals: { files: 2, indexed: 2, skipped: 0, failed: 0, ignored: 0 } },
      error: null,
    })
    expect(await pathsIn()).toEqual(['src/main.ts', 'README.md'])
    expect(await textOf('src/main.ts')).toBe('export const main = 1\n')
    await expect.poll(leftovers).toEqual([])
  })

  it('[IMP2] keeps the top folder when asked to', async () => {
    await place.import([...project], { stripRoot: 'false' })
    expect(await pathsIn()).toEqual(['p/src/main.ts', 'p/README.md'])
  })

  it('[IMP10] is answered at once with its job, which can be read, listed and watched', async () => {
    const accepted = await place.send([...project])
    expect(accepted).toMatchObject({ workspaceId: place.workspaceId, progress: { done: 0, total: 2 } })
    const seen = await place.watch(accepted.id)
    expect(seen.at(-1)).toMatchObject({ id: accepted.id, state: 'succeeded' })
    const params = { workspaceId: place.workspaceId, jobId: accepted.id }
    expect(await place.api.call(getWorkspaceJob, { params })).toEqual(seen.at(-1))
    const { items } = await place.api.call(listWorkspaceJobs, { params: { workspaceId: place.workspaceId } })
    expect(items).toEqual([seen.at(-1)])
  })

  it('[IMP11] of the same content again stores nothing new', async () => {
    const archive: Part = ['p.zip', zipOf(entries)]
    await place.import([archive])
    const before = await revisions()
    const again = await place.import([archive])
    expect(again).toMatchObject({ state: 'succeeded', report: { totals: { files: 2 } } })
    expect(await revisions()).toEqual(before)
  })

  async function revisions() {
    const files = await Promise.all(
      (await pathsIn()).map((path) =>
        place.api.call(readFiles, { query: { workspaceId: place.workspaceId, path } }),
      ),
    )
    return files.map((file) => file.kind === 'file' && [file.path, file.revision, file.modifiedAt])
  }

  it('[IMP4, IMP7] reports what it left out, with the reasons', async () => {
    const archive = await tarGzOf([
      ...entries,
      { name: 'p/link', type: 'symlink', linkname: '/etc/passwd' },
      { name: 'p/node_modules/x/index.js', content: 'x' },
      { name: 'p/.git/config', content: 'x' },
      { name: 'p/.git/HEAD', content: 'x' },
      { name: 'p/src/main.ts', content: 'export const second = 2\n' },
      { name: 'p/latin1.txt', content: Buffer.from('Gr\xfc\xdfe aus M\xfcnchen', 'latin1') },
      { name: 'p/logo.bin', content: Buffer.from([0, 1, 2, 0]) },
    ])
    const { report, state } = await place.import([['p.tgz', archive]])
    expect(state).toBe('succeeded')
    expect(report).toMatchObject({
      totals: { files: 6, indexed: 2, skipped: 4, failed: 0, ignored: 3 },
      ignored: [
        { path: 'node_modules', files: 1, reason: 'installed dependencies' },
        { path: '.git', files: 2, reason: 'version control' },
      ],
    })
    const skipped = new Map((report as unknown as Report).skipped.map((one) => [one.path, one.reason]))
    expect(skipped.get('link')).toBe('is a symbolic link')
    expect(skipped.get('src/main.ts')).toContain('twice')
    expect(skipped.get('latin1.txt')).toMatch(/UTF-8/)
    expect(skipped.get('logo.bin')).toMatch(/binary/)
    expect(await textOf('src/main.ts')).toBe('export const main = 1\n')
  })

  it('[IMP8] does not put a file where a folder is, nor a folder where a file is', async () => {
    await place.import([
      ['a/b.ts', 'b'],
      ['c.ts', 'c'],
    ])
    expect(
      await refusal(
        place.send([
          ['a', 'x'],
          ['z', 'z'],
        ]),
      ),
    ).toMatchObject({ code: 'CONFLICT' })
    expect(
      await refusal(
        place.send([
          ['c.ts/d.ts', 'x'],
          ['z', 'z'],
        ]),
      ),
    ).toMatchObject({ code: 'CONFLICT' })
    expect(
      await refusal(
        place.send([
          ['q', 'x'],
          ['q/r', 'y'],
        ]),
      ),
    ).toMatchObject({ code: 'VALIDATION_ERROR', field: 'files' })
    expect(await pathsIn()).toEqual(['a/b.ts', 'c.ts'])
  })

  it('[IMP12] that turns out damaged half-way fails, and says what was stored', async () => {
    const archive = zipOf([
      ...entries,
      { name: 'p/broken.ts', content: 'let broken\n'.repeat(50), announced: { crc: 1 } },
    ])
    const job = await place.import([['p.zip', archive]])
    expect(job).toMatchObject({ state: 'failed', report: null, error: { code: 'VALIDATION_ERROR' } })
    expect(job.error?.message).toMatch(/checksum of p\/broken\.ts is wrong.*of 3 files were stored/)
    await expect.poll(leftovers).toEqual([])
  })

  it('[JOB5] that is cancelled leaves nothing staged', async () => {
    const many = Array.from(
      { length: 200 },
      (_, at): Part => [`p/f${at}.ts`, `export const f${at} = ${at}\n`],
    )
    const { id: jobId } = await place.send(many)
    const params = { workspaceId: place.workspaceId, jobId }
    const cancelled = await place.api.call(cancelWorkspaceJob, { params })
    expect(cancelled).toMatchObject({ id: jobId, state: 'cancelled' })
    await expect.poll(leftovers).toEqual([])
  })

  it('[WS8] into a workspace that is deleted meanwhile leaves nothing staged', async () => {
    const many = Array.from(
      { length: 200 },
      (_, at): Part => [`p/f${at}.ts`, `export const f${at} = ${at}\n`],
    )
    await place.send(many)
    await place.api.call(deleteWorkspace, { params: { workspaceId: place.workspaceId } })
    await expect.poll(leftovers).toEqual([])
  })
})

describe('an import that is refused', () => {
  const random = randomBytes(3_000)

  const hostile: [string, () => Promise<Uint8Array> | Uint8Array, RegExp][] = [
    ['an empty archive', () => zipOf([]), /holds no files/],
    ['an archive of folders alone', () => tarOf([{ name: 'a/', type: 'directory' }]), /holds no files/],
    ['an empty tar', () => Buffer.alloc(10_240), /holds no files/],
    [
      'a way out by ".."',
      () => zipOf([{ name: '../../etc/cron.d/x', content: 'x' }]),
      /"\.\.\/\.\.\/etc\/cron\.d\/x"/,
    ],
    ['a way out by backslashes', () => zipOf([{ name: 'a\\..\\..\\x', content: 'x' }]), /leads out/],
    ['an absolute name', () => tarGzOf([{ name: '/etc/passwd', content: 'x' }]), /absolute/],
    ['a drive letter', () => zipOf([{ name: 'C:/x', content: 'x' }]), /drive letter/],
    ['a NUL in a name', () => zipOf([{ name: 'a\0.ts', content: 'x' }]), /NUL/],
    [
      'links alone',
      () => tarOf([{ name: 'l', type: 'symlink', linkname: '/etc/passwd' }]),
      /l is a symbolic link/,
    ],
    ['encrypted entries alone', () => zipOf([{ name: 'a', content: 'x', flags: 1 }]), /a is encrypted/],
    ['a cut-off zip', () => zipOf(entries).subarray(0, 60), /damaged or cut off/],
    [
      'a cut-off tar.gz',
      async () => (await tarGzOf([{ name: 'a', content: random }])).subarray(0, 400),
      /damaged or cut off/,
    ],
    [
      'a gzip bomb',
      async () => gzipSync(await tarOf([{ name: 'a', content: Buffer.alloc(20_000_000) }])),
      /zip bomb/,
    ],
    [
      'a zip bomb',
      () => zipOf(Array.from({ length: 30 }, (_, at) => ({ name: `f${at}`, content: Buffer.alloc(1e6) }))),
      /zip bomb/,
    ],
    [
      'a zip bomb of overlapping entries',
      () =>
        zipOf([
          { name: 'a', content: random },
          { name: 'b', content: random, announced: { offset: 0 } },
        ]),
      /overlap/,
    ],
    ['another format', () => Buffer.from('377abcaf271c0004', 'hex'), /7-Zip/],
  ]

  it.each(hostile)(
    '[IMP3, IMP5, IMP6, IMP9] for %s names what is wrong and leaves nothing',
    async (_title, make, issue) => {
      const call = place.send([['archive.zip', await make()]], { stripRoot: 'false' })
      expect(await refusal(call)).toEqual({
        code: 'VALIDATION_ERROR',
        field: 'files',
        message: expect.stringMatching(issue),
      })
      await expect.poll(leftovers).toEqual([])
      const { items } = await place.api.call(listWorkspaceJobs, {
        params: { workspaceId: place.workspaceId },
      })
      expect(items).toEqual([])
    },
  )

  it.each([
    ['an unknown field', { overwrite: 'true' }, [['a', 'x']], 'overwrite'],
    ['a wrong value', { stripRoot: 'maybe' }, [['a', 'x']], 'stripRoot'],
    ['no file', {}, [], 'files'],
    [
      'a name that leaves the workspace',
      {},
      [
        ['../x', 'x'],
        ['a', 'x'],
      ],
      'files',
    ],
  ] as [string, Record<string, string>, Part[], string][])(
    '[HTTP3, IMP3] for %s names it',
    async (_title, fields, parts, field) => {
      expect(await refusal(place.send(parts, fields))).toMatchObject({ code: 'VALIDATION_ERROR', field })
      await expect.poll(leftovers).toEqual([])
    },
  )

  it('[HTTP4] for a body that is neither a form nor JSON is 415', async () => {
    const response = await fetch(`${server.url}/api/workspaces/${place.workspaceId}/import`, {
      method: 'POST',
      headers: { ...ada.headers, 'content-type': 'text/plain' },
      body: '{}',
    })
    expect(response.status).toBe(415)
  })

  it('[WS1, WS2] into another person’s workspace is 404, and for a viewer 403', async () => {
    const bob = await signUpPerson(server.url)
    const api = createClient({ baseUrl: server.url, headers: bob.headers })
    const params = { workspaceId: place.workspaceId }
    const call = () => api.call(importIntoWorkspace, { params, form: formOf([['a', 'x']]) })
    expect(await refusal(call())).toMatchObject({ code: 'NOT_FOUND' })
    await place.api.call(addWorkspaceMember, { params, body: { email: bob.email, role: 'viewer' } })
    expect(await refusal(call())).toMatchObject({ code: 'FORBIDDEN' })
    const job: Job = await place.import([['a.ts', 'let a']])
    const cancel = api.call(cancelWorkspaceJob, { params: { ...params, jobId: job.id } })
    expect(await refusal(cancel)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await api.call(getWorkspaceJob, { params: { ...params, jobId: job.id } })).toEqual(job)
    await expect.poll(leftovers).toEqual([])
  })

  it('[IMP19] of who leaves the workspace while it is sent is 404', async () => {
    const bob = await signUpPerson(server.url)
    const params = { workspaceId: place.workspaceId }
    const body = { email: bob.email, role: 'editor' as const }
    const { userId } = await place.api.call(addWorkspaceMember, { params, body })
    const form = 'content-disposition: form-data; name="files"; filename="late.ts"'
    const call = httpRequest(`${server.url}/api/workspaces/${place.workspaceId}/import`, {
      method: 'POST',
      headers: { ...bob.headers, 'content-type': 'multipart/form-data; boundary=x' },
    })
    call.write(`--x\r\n${form}\r\n\r\nlet late`)
    await expect.poll(leftovers).toHaveLength(1)
    await place.api.call(removeWorkspaceMember, { params: { ...params, userId } })
    call.end(' = 1\r\n--x--\r\n')
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    response.resume()
    expect(response.statusCode).toBe(404)
    await expect.poll(leftovers).toEqual([])
    expect(await pathsIn()).toEqual([])
  })

  it('[JOB9] the job of another workspace is 404 in one’s own', async () => {
    const job = await place.import([['a.ts', 'let a']])
    const other = await openWorkplace(server.url, ada)
    const params = { workspaceId: other.workspaceId, jobId: job.id }
    expect(await refusal(other.api.call(getWorkspaceJob, { params }))).toMatchObject({ code: 'NOT_FOUND' })
    expect(await refusal(other.watch(job.id))).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('an import of 200 MB', () => {
  const boundary = 'atelier'
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="files"; filename="big.zip"\r\n\r\n`

  function begin(headers: Record<string, string | number>): ClientRequest {
    const url = `${server.url}/api/workspaces/${place.workspaceId}/import`
    const type = { 'content-type': `multipart/form-data; boundary=${boundary}` }
    return httpRequest(url, { method: 'POST', headers: { ...ada.headers, ...type, ...headers } })
  }

  async function answerOf(call: ClientRequest): Promise<{ status: number | undefined; code: string }> {
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    const body = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString()
    return { status: response.statusCode, code: (JSON.parse(body) as { error: { code: string } }).error.code }
  }

  it('[IMP13] is refused by its announced size, before a byte of it is read', async () => {
    const call = begin({ 'content-length': 200 * 1024 * 1024 })
    // The server closes on a body it does not want; the answer comes first.
    call.on('error', () => {})
    call.write(head)
    expect(await answerOf(call)).toEqual({ status: 413, code: 'PAYLOAD_TOO_LARGE' })
    call.destroy()
    await expect.poll(leftovers).toEqual([])
  })

  it('[IMP13] is stopped at the limit when it announces none, and leaves nothing on disk', async () => {
    const call = begin({ 'transfer-encoding': 'chunked' })
    call.on('error', () => {})
    const answered = answerOf(call)
    let answeredYet = false
    answered.finally(() => {
      answeredYet = true
    })
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    let sent = 0
    call.write(head)
    while (!answeredYet && sent < 200 * 1024 * 1024) {
      sent += chunk.length
      await Promise.race([new Promise((resolve) => call.write(chunk, resolve)), answered])
    }
    expect(await answered).toEqual({ status: 413, code: 'PAYLOAD_TOO_LARGE' })
    call.destroy()
    expect(sent).toBeGreaterThan(maxImportBytes - 1024 * 1024)
    expect(sent).toBeLessThan(200 * 1024 * 1024)
    await expect.poll(leftovers).toEqual([])
  })
})
