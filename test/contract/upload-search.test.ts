import { createClient } from '@atelier/client'
import {
  addWorkspaceMember,
  getIndexState,
  maxUploadBytes,
  readFiles,
  searchWorkspace,
  uploadFiles,
} from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
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

function upload(parts: readonly Part[], fields: Record<string, string> = {}) {
  return place.api.call(uploadFiles, { form: formOf(parts, { workspaceId: place.workspaceId, ...fields }) })
}

function search(query: string) {
  return place.api.call(searchWorkspace, { body: { query, workspaceId: place.workspaceId } })
}

const parser = 'export function parseInvoice(text: string) {\n  return text.split(";")\n}\n'

describe('an upload', () => {
  it('[UP1] stores and indexes its files, and answers what became of each', async () => {
    const { files, totals, workspaceId } = await upload([
      ['src/parser.ts', parser],
      ['gr\u00fc\u00dfe.md', '# Gr\u00fc\u00dfe\n'],
      ['latin1.txt', Buffer.from('Gr\xfc\xdfe', 'latin1')],
      ['data.bin', Buffer.from([0, 1, 2])],
    ])
    expect(workspaceId).toBe(place.workspaceId)
    expect(files.map(({ name, status }) => [name, status])).toEqual([
      ['src/parser.ts', 'indexed'],
      ['gr\u00fc\u00dfe.md', 'indexed'],
      ['latin1.txt', 'skipped'],
      ['data.bin', 'skipped'],
    ])
    expect(files[0]).toMatchObject({ bytes: parser.length, language: 'typescript', chunks: 1 })
    expect(files[2]?.reason).toMatch(/UTF-8/)
    expect(totals).toMatchObject({ files: 4, indexed: 2, skipped: 2, failed: 0 })
    const query = { workspaceId, path: 'src/parser.ts' }
    expect(await place.api.call(readFiles, { query })).toMatchObject({ content: parser })
  })

  it('[UP1] of a file that cannot be kept stores the others', async () => {
    const { files, totals } = await upload([
      ['ok.ts', 'export const ok = 1\n'],
      [`${'x'.repeat(300)}.ts`, 'export const long = 1\n'],
      ['ok.ts', 'export const twice = 1\n'],
    ])
    expect(files.map(({ status }) => status)).toEqual(['indexed', 'skipped', 'skipped'])
    expect(totals).toMatchObject({ files: 3, indexed: 1, skipped: 2 })
  })

  it('[UP1] again costs nothing: the same document, no new time', async () => {
    const before = await upload([['a.ts', parser]])
    const state = () => place.api.call(getIndexState, { query: { workspaceId: place.workspaceId } })
    // What the upload wrote is looked at once more, since something changed on disk.
    await expect.poll(async () => (await state()).changes.pending).toBe(0)
    const stateBefore = await state()
    const after = await upload([['a.ts', parser]])
    expect(after).toEqual(before)
    await expect.poll(state).toEqual(stateBefore)
  })

  it.each([
    ['a way out', [['../x.ts', 'x']], 'files'],
    ['an absolute name', [['/etc/passwd', 'x']], 'files'],
    ['no file', [], 'files'],
    [
      'a file that is a folder too',
      [
        ['a', 'x'],
        ['a/b', 'y'],
      ],
      'files',
    ],
  ] as [string, Part[], string][])(
    '[UP2] with %s is refused by name and stores nothing',
    async (_title, parts, field) => {
      expect(
        await refusal(upload([['fine.ts', 'x'], ...parts].slice(parts.length === 0 ? 1 : 0) as Part[])),
      ).toMatchObject({
        code: 'VALIDATION_ERROR',
        field,
      })
      const listing = await place.api.call(readFiles, { query: { workspaceId: place.workspaceId } })
      expect(listing).toMatchObject({ entries: [] })
    },
  )

  it('[UP2] does not put a file where a folder is', async () => {
    await upload([['a/b.ts', 'b']])
    expect(await refusal(upload([['a', 'x']]))).toMatchObject({ code: 'CONFLICT' })
    expect(await refusal(upload([['a/b.ts/c', 'x']]))).toMatchObject({ code: 'CONFLICT' })
  })

  it.each([
    ['an unknown field', { colour: 'red' }, 'colour'],
    ['a wrong workspace id', { workspaceId: 'mine' }, 'workspaceId'],
  ])('[HTTP3] with %s is refused by name', async (_title, fields, field) => {
    expect(await refusal(upload([['a.ts', 'x']], fields))).toMatchObject({ code: 'VALIDATION_ERROR', field })
  })

  it('[HTTP3] without a workspace is refused by name', async () => {
    const call = place.api.call(uploadFiles, { form: formOf([['a.ts', 'x']]) })
    expect(await refusal(call)).toMatchObject({ code: 'VALIDATION_ERROR', field: 'workspaceId' })
  })

  it('[HTTP4] over its limit is 413', async () => {
    const call = upload([['big.txt', Buffer.alloc(maxUploadBytes + 1, 'x')]])
    const { code } = await refusal(call)
    // The server may close before a client has sent all; both say that it was too much.
    expect(['PAYLOAD_TOO_LARGE', 'NETWORK_ERROR']).toContain(code)
  })

  it('[WS1, WS2] into another person’s workspace is 404, for a viewer 403', async () => {
    const bob = await signUpPerson(server.url)
    const api = createClient({ baseUrl: server.url, headers: bob.headers })
    const call = () =>
      api.call(uploadFiles, { form: formOf([['a.ts', 'x']], { workspaceId: place.workspaceId }) })
    expect(await refusal(call())).toMatchObject({ code: 'NOT_FOUND' })
    const params = { workspaceId: place.workspaceId }
    await place.api.call(addWorkspaceMember, { params, body: { email: bob.email, role: 'viewer' } })
    expect(await refusal(call())).toMatchObject({ code: 'FORBIDDEN' })
  })
})

describe('a search', () => {
  it('[UP1] finds what was uploaded, with its lines', async () => {
    await upload([
      ['src/parser.ts', parser],
      ['src/colours.ts', 'export const red = "#f00"\nexport const blue = "#00f"\n'],
    ])
    const { results, context, embeddingModel } = await search('where is an invoice parsed?')
    expect(results[0]).toMatchObject({ path: 'src/parser.ts', startLine: 1, language: 'typescript' })
    expect(results[0]?.content).toContain('parseInvoice')
    expect(context.workspaceId).toBe(place.workspaceId)
    expect(embeddingModel).not.toBe('')
  })

  it('[WS1] never leaves its workspace', async () => {
    await upload([['secret.ts', 'export const canaryXyzzy = 42\n']])
    const other = await openWorkplace(server.url, ada)
    const body = { query: 'canaryXyzzy', workspaceId: other.workspaceId }
    expect((await other.api.call(searchWorkspace, { body })).results).toEqual([])
    const stranger = createClient({ baseUrl: server.url, headers: (await signUpPerson(server.url)).headers })
    const theirs = { query: 'canaryXyzzy', workspaceId: place.workspaceId }
    expect(await refusal(stranger.call(searchWorkspace, { body: theirs }))).toMatchObject({
      code: 'NOT_FOUND',
    })
    const query = { workspaceId: place.workspaceId }
    expect(await refusal(stranger.call(getIndexState, { query }))).toMatchObject({ code: 'NOT_FOUND' })
  })

  it.each([
    ['an empty query', { query: '  ' }, 'query'],
    ['a query of a megabyte', { query: 'x'.repeat(900_000) }, 'query'],
    ['a limit of 51', { limit: 51 }, 'limit'],
    ['a threshold of 2', { threshold: 2 }, 'threshold'],
    ['an unknown property', { workspace: 'x' }, 'workspace'],
    ['a wrong type', { query: { $gt: '' } }, 'query'],
  ])('[HTTP3] with %s is refused by name', async (_title, wrong, field) => {
    const body = { query: 'x', workspaceId: place.workspaceId, ...wrong } as {
      query: string
      workspaceId: string
    }
    expect(await refusal(place.api.call(searchWorkspace, { body }))).toMatchObject({
      code: 'VALIDATION_ERROR',
      field,
    })
  })

  it('[UP1] the state of the index counts what there is', async () => {
    await upload([
      ['a.ts', parser],
      ['b.bin', Buffer.from([0])],
    ])
    const state = await place.api.call(getIndexState, { query: { workspaceId: place.workspaceId } })
    expect(state).toMatchObject({ documents: 1, chunks: 1, vectors: 1, pending: 0, failed: 0 })
    expect(state.skipped).toEqual([{ reason: expect.stringContaining('binary'), files: 1 }])
  })
})
