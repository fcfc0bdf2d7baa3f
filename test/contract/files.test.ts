import { createHash } from 'node:crypto'
import { createClient } from '@atelier/client'
import { type DirectoryListing, type FileContent, readFiles } from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkplace, refusal, type Workplace } from './import-requests.ts'

const main = 'export function grüße(name: string) {\n  return "hi " + name\n}\n'

let server: TestServer
let ada: Person
let place: Workplace

beforeAll(async () => {
  server = await startTestServer()
  ada = await signUpPerson(server.url)
  place = await openWorkplace(server.url, ada)
  await place.import([
    ['README.md', '# Project\n'],
    ['src/main.ts', main],
    ['src/lib/deep/er.ts', 'export const er = 1\n'],
    ['src/lib/a.ts', 'export const a = 1\n'],
    ['😀/smile.ts', 'export const smile = 1\n'],
    ['src.txt', 'text\n'],
    ['logo.bin', Buffer.from([0, 1, 2])],
  ])
})
afterAll(() => server[Symbol.asyncDispose]())

async function list(path: string, depth?: number): Promise<DirectoryListing> {
  const query = { workspaceId: place.workspaceId, path, ...(depth === undefined ? {} : { depth }) }
  const data = await place.api.call(readFiles, { query })
  return data.kind === 'directory' ? data : expect.unreachable(`${path} is a file`)
}

async function read(path: string): Promise<FileContent> {
  const data = await place.api.call(readFiles, { query: { workspaceId: place.workspaceId, path } })
  return data.kind === 'file' ? data : expect.unreachable(`${path} is a directory`)
}

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const query = new URLSearchParams({ workspaceId: place.workspaceId, path })
  return fetch(`${server.url}/api/files?${query}`, { headers: { ...ada.headers, ...headers } })
}

describe('a file', () => {
  it('[FILE1] is read with its text, revision, size, language and time', async () => {
    const file = await read('src/main.ts')
    const revision = createHash('sha256').update(main).digest('hex')
    expect(file).toMatchObject({ path: 'src/main.ts', content: main, encoding: 'utf8', revision })
    expect(file).toMatchObject({ size: Buffer.byteLength(main), language: 'typescript' })
    expect(Date.now() - Date.parse(file.modifiedAt)).toBeLessThan(60_000)
  })

  it('[FILE2] answers 304 to who has its revision, and asks to be asked', async () => {
    const first = await get('src/main.ts')
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/)
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await get('src/main.ts', { 'if-none-match': known })
      expect(again.status).toBe(304)
      expect(await again.text()).toBe('')
      expect(again.headers.get('etag')).toBe(etag)
    }
    expect((await get('src/main.ts', { 'if-none-match': `"${'0'.repeat(64)}"` })).status).toBe(200)
    await place.import(
      [
        ['src/main.ts', `${main}// changed\n`],
        ['x.ts', 'x'],
      ],
      { stripRoot: 'false' },
    )
    expect((await get('src/main.ts', { 'if-none-match': etag })).status).toBe(200)
  })

  it('[FILE5] that is not there is 404', async () => {
    const query = { workspaceId: place.workspaceId }
    const call = (path: string) => refusal(place.api.call(readFiles, { query: { ...query, path } }))
    expect(await call('src/none.ts')).toMatchObject({ code: 'NOT_FOUND' })
    expect(await call('src/main.ts/x')).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('[FILE5] that is binary is read as bytes where a sandbox runs, and is 404 with the reason where none can', async () => {
    const response = await get('logo.bin')
    const answer = await response.json()
    if (response.status === 200)
      expect(answer).toMatchObject({ data: { size: 3, content: '\u0000\u0001\u0002' } })
    else
      expect(answer).toMatchObject({
        error: { code: 'NOT_FOUND', message: expect.stringContaining('binary') },
      })
  })
})

describe('a folder', () => {
  it('[FILE3] lists one level, folders first', async () => {
    const { entries, truncated } = await list('')
    expect(entries.map(({ name, kind }) => [name, kind])).toEqual([
      ['src', 'directory'],
      ['😀', 'directory'],
      ['README.md', 'file'],
      ['logo.bin', 'file'],
      ['src.txt', 'file'],
      ...((await exists('x.ts')) ? [['x.ts', 'file']] : []),
    ])
    expect(truncated).toBe(false)
  })

  async function exists(path: string): Promise<boolean> {
    return (await get(path)).status === 200
  }

  it('[FILE3] lists as deep as asked, below any folder', async () => {
    expect((await list('src')).entries.map(({ path }) => path)).toEqual(['src/lib', 'src/main.ts'])
    expect((await list('src', 2)).entries.map(({ path }) => path)).toEqual([
      'src/lib',
      'src/lib/deep',
      'src/lib/a.ts',
      'src/main.ts',
    ])
    expect((await list('src', 64)).entries.map(({ path }) => path)).toEqual([
      'src/lib',
      'src/lib/deep',
      'src/lib/deep/er.ts',
      'src/lib/a.ts',
      'src/main.ts',
    ])
    expect((await list('😀')).entries.map(({ path }) => path)).toEqual(['😀/smile.ts'])
  })

  it('[FILE4] tells what is searchable, and why something is not', async () => {
    const readme = async () => (await list('')).entries.find(({ name }) => name === 'README.md')
    await expect
      .poll(readme)
      .toMatchObject({ size: 10, language: 'markdown', indexing: 'indexed', reason: null })
    const { entries } = await list('')
    expect(entries.find(({ name }) => name === 'logo.bin')).toMatchObject({
      indexing: 'skipped',
      reason: expect.stringContaining('binary'),
    })
    expect(entries.find(({ name }) => name === 'src')).toMatchObject({
      size: null,
      indexing: null,
      reason: null,
    })
  })

  it('[FILE5] that is empty is there as the root, and nowhere else', async () => {
    const empty = await openWorkplace(server.url, ada)
    const query = { workspaceId: empty.workspaceId }
    expect(await empty.api.call(readFiles, { query })).toEqual({
      kind: 'directory',
      path: '',
      entries: [],
      truncated: false,
    })
    expect(await refusal(empty.api.call(readFiles, { query: { ...query, path: 'src' } }))).toMatchObject({
      code: 'NOT_FOUND',
    })
    // A prefix of a name is no folder.
    expect(
      await refusal(place.api.call(readFiles, { query: { workspaceId: place.workspaceId, path: 'sr' } })),
    ).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('reading files', () => {
  it.each(['/etc/passwd', '../x', 'a/../../x', 'a//b', './a', 'a\\b', 'a\0b', 'x'.repeat(5_000)])(
    '[FILE6] refuses the path %j',
    async (path) => {
      const call = place.api.call(readFiles, { query: { workspaceId: place.workspaceId, path } })
      expect(await refusal(call)).toMatchObject({ code: 'VALIDATION_ERROR', field: 'path' })
    },
  )

  it.each([
    ['depth', { depth: '0' }],
    ['depth', { depth: '65' }],
    ['depth', { depth: 'all' }],
    ['workspaceId', { workspaceId: 'mine' }],
    ['glob', { glob: '' }],
  ])('[HTTP3] refuses a wrong %s', async (field, wrong) => {
    const query = new URLSearchParams({ workspaceId: place.workspaceId, ...wrong } as Record<string, string>)
    const response = await fetch(`${server.url}/api/files?${query}`, { headers: ada.headers })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'VALIDATION_ERROR', details: { field } } })
  })

  it('[WS1] of another person’s workspace is 404, file or not, revision known or not', async () => {
    const stranger = await signUpPerson(server.url)
    const api = createClient({ baseUrl: server.url, headers: stranger.headers })
    const { revision } = await read('README.md')
    for (const path of ['', 'README.md', 'none']) {
      const query = { workspaceId: place.workspaceId, path }
      const headers = { 'if-none-match': `"${revision}"` }
      expect(await refusal(api.call(readFiles, { query }, { headers }))).toMatchObject({
        code: 'NOT_FOUND',
        message: 'Workspace not found',
      })
    }
  })
})
