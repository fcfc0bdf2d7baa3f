import { randomBytes } from 'node:crypto'
import {
  changeFiles,
  deleteFile,
  maxFileContentBytes,
  moveFile,
  readRawFile,
  replaceFile,
  searchFiles,
} from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noBubblewrap } from '../integration/runtime-support/runtimes.ts'
import { fileCalls, nowhere, revisionOf } from './file-calls.ts'
import { type Answer, type LiveWorkspace, openLiveWorkspace } from './live-workspace.ts'

describe.skipIf(noBubblewrap())('reading the files of a workspace', () => {
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

  const { create, read, raw, shell, list, pathsIn } = fileCalls(() => ({
    url: server.url,
    person: ada,
    place,
  }))

  describe('reading', () => {
    it('[FILE1, FILE2] answers content, revision, size, language and time, and 304 to who has it', async () => {
      const made = await create('src/a.ts', 'export const ä = 1\n')
      const answer = await read('src/a.ts')
      expect(answer.data).toEqual({
        kind: 'file',
        path: 'src/a.ts',
        content: 'export const ä = 1\n',
        encoding: 'utf8',
        revision: revisionOf('export const ä = 1\n'),
        size: 20,
        modifiedAt: made.data.modifiedAt,
        language: 'typescript',
      })
      const etag = answer.headers.get('etag') ?? ''
      expect(etag).toBe(`"${revisionOf('export const ä = 1\n')}"`)
      const again = await read('src/a.ts', { 'if-none-match': `"${nowhere}", ${etag}` })
      expect([again.status, again.bytes.length]).toEqual([304, 0])
    })

    it('[FILE1] what is not UTF-8 comes as base64, and a byte order mark is part of the content', async () => {
      const latin = Buffer.from('Gr\xfc\xdfe', 'latin1')
      await create('latin.txt', latin.toString('base64'), { encoding: 'base64' })
      expect((await read('latin.txt')).data).toMatchObject({
        encoding: 'base64',
        content: latin.toString('base64'),
        revision: revisionOf(latin),
      })
      await create('bom.txt', '\uFEFFhello')
      expect((await read('bom.txt')).data).toMatchObject({
        encoding: 'utf8',
        content: '\uFEFFhello',
        size: 8,
      })
    })

    it('[FILE3] lists level by level, folders first, and enters no folder that is ignored', async () => {
      for (const path of ['src/b/c.ts', 'src/a.ts', 'z.md', 'node_modules/x/index.js', 'out/deep/o.js'])
        await create(path)
      await create('.gitignore', 'out/\n')
      expect(await pathsIn()).toEqual([
        'node_modules',
        'out',
        'src',
        'src/b',
        'src/b/c.ts',
        'src/a.ts',
        '.gitignore',
        'z.md',
      ])
      expect(await pathsIn('', { depth: '1' })).toEqual(['node_modules', 'out', 'src', '.gitignore', 'z.md'])
      expect(await pathsIn('out', { depth: '1' })).toEqual(['out/deep'])
      expect(await pathsIn('node_modules')).toEqual(['node_modules/x', 'node_modules/x/index.js'])
      const reasons = new Map((await list()).map((entry) => [entry.path, entry.reason]))
      expect([reasons.get('out'), reasons.get('node_modules')]).toEqual([
        'Named by a .gitignore file.',
        'Installed dependencies.',
      ])
    })

    it('[FILE4, FILE9] lists what is searchable, by pattern, with revisions where asked', async () => {
      await create('a.ts', 'export const alpha = 1\n')
      await create('b/c.ts', 'export const beta = 1\n', { executable: true })
      await create('d.bin', Buffer.from([0, 1, 2]).toString('base64'), { encoding: 'base64' })
      await expect
        .poll(async () => (await list()).map(({ path, indexing }) => [path, indexing]), { timeout: 20_000 })
        .toEqual([
          ['b', null],
          ['b/c.ts', 'indexed'],
          ['a.ts', 'indexed'],
          ['d.bin', 'skipped'],
        ])
      expect(await list('', { glob: '*.ts', revisions: 'true' })).toMatchObject([
        { path: 'b/c.ts', executable: true, revision: revisionOf('export const beta = 1\n'), reason: null },
        { path: 'a.ts', executable: false, revision: revisionOf('export const alpha = 1\n'), size: 23 },
      ])
      expect(await list('', { glob: '*.bin' })).toMatchObject([
        { path: 'd.bin', revision: null, reason: 'The file is binary.' },
      ])
    })

    it('[FILE5] what is not there is 404, the empty root is', async () => {
      expect((await read('')).data).toEqual({ kind: 'directory', path: '', entries: [], truncated: false })
      await create('a.txt')
      for (const path of ['no', 'no/no', 'a.txt/no']) {
        expect(await read(path)).toMatchObject({ status: 404, error: { code: 'NOT_FOUND' } })
        expect((await raw(path)).status).toBe(404)
      }
    })

    it('[FILE7] a file of 512 MB is not loaded, and comes as bytes', async () => {
      await shell('truncate -s 512M big.bin && truncate -s 8388608 limit.bin')
      const answer = await read('big.bin')
      expect(answer).toMatchObject({
        status: 413,
        error: { code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining('/api/files/raw') },
      })
      expect(answer.error.details).toMatchObject({ limit: maxFileContentBytes, size: 512 * 1024 ** 2 })
      expect((await read('limit.bin')).data).toMatchObject({ size: maxFileContentBytes, encoding: 'utf8' })
      const tail = await raw('big.bin', { range: 'bytes=-3' })
      expect([tail.status, tail.bytes]).toEqual([206, Buffer.alloc(3)])
    })
  })

  describe('a path', () => {
    const endpoints = [
      ['GET', (path: string) => read(path)],
      ['raw', (path: string) => raw(path)],
      ['POST', (path: string) => create(path, 'x')],
      [
        'PUT',
        (path: string) => place.send(replaceFile, { body: { path, content: 'x', baseRevision: null } }),
      ],
      ['DELETE', (path: string) => place.send(deleteFile, { query: { path } })],
      [
        'batch',
        (path: string) => place.send(changeFiles, { body: { operations: [{ op: 'create', path }] } }),
      ],
    ] as const

    it.each(endpoints)('[FILE6] of %s that leaves the workspace is refused by name', async (_name, call) => {
      const hostile = [
        '../x',
        'a/../../x',
        '/etc/passwd',
        'a//b',
        './a',
        'a/.',
        'a\0b',
        'a\\b',
        'n'.repeat(256),
      ]
      for (const path of [...hostile, `${'d/'.repeat(2048)}x`]) {
        expect(await call(path), path.slice(0, 40)).toMatchObject({
          status: 400,
          error: { code: 'VALIDATION_ERROR', details: { field: expect.stringContaining('path') } },
        })
      }
    })

    it.each(endpoints)('[FILE8] of %s that leads through a link is refused', async (name, call) => {
      await shell('ln -s /etc etc; ln -s /etc/passwd passwd; ln -s . self; echo x > real')
      for (const path of ['etc/passwd', 'passwd', 'self/real']) {
        const answer = await call(path)
        // A name that is taken by a link is taken, and a link by itself can be deleted.
        const isOwn = path === 'passwd'
        if (isOwn && name === 'DELETE') expect(answer.status).toBe(200)
        else if (name === 'POST') expect(answer).toMatchObject({ status: 409, error: { code: 'CONFLICT' } })
        else
          expect(answer, path).toMatchObject({
            status: 400,
            error: { code: 'INVALID_REQUEST', details: { reason: 'LINK_REFUSED' } },
          })
      }
      expect((await list()).filter(({ kind }) => kind === 'symlink').length).toBeGreaterThanOrEqual(2)
      expect((await shell('cat /etc/passwd')).stdout).toContain('user')
    })

    it('[FILE22] is told apart by case', async () => {
      await create('a.txt', 'small')
      await create('A.txt', 'large')
      expect((await read('a.txt')).data.content).toBe('small')
      const answer = await place.send(moveFile, { body: { from: 'a.txt', to: 'A.TXT' } })
      expect(answer.status).toBe(200)
      expect(await pathsIn()).toEqual(['A.TXT', 'A.txt'])
    })
  })

  describe('bytes', () => {
    const content = randomBytes(300_000)
    beforeEach(async () => {
      await create('pic.png', content.toString('base64'), { encoding: 'base64' })
    })

    it('[FILE14] come whole, as an attachment that no browser runs here', async () => {
      const answer = await raw('pic.png')
      expect(answer.bytes.equals(content)).toBe(true)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'image/png',
        'content-length': '300000',
        'content-disposition': `attachment; filename="pic.png"; filename*=UTF-8''pic.png`,
        'content-security-policy': expect.stringMatching(/^sandbox; default-src 'none'/),
        'x-content-type-options': 'nosniff',
        'accept-ranges': 'bytes',
        etag: `"${revisionOf(content)}"`,
      })
      const page = '<script>alert(document.cookie)</script>'
      for (const name of ['page.html', 'page.svg', 'page.xhtml', 'page']) {
        await create(name, page)
        const served = await raw(name)
        expect([served.headers.get('content-type'), served.bytes.toString()]).toEqual([
          'application/octet-stream',
          page,
        ])
      }
    })

    it('[FILE15] come in ranges, and not at all to who has them', async () => {
      const part = await raw('pic.png', { range: 'bytes=100-199' })
      expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 100-199/300000'])
      expect(part.bytes.equals(content.subarray(100, 200))).toBe(true)
      const beyond = await raw('pic.png', { range: 'bytes=300000-' })
      expect([beyond.status, beyond.headers.get('content-range'), beyond.bytes.length]).toEqual([
        416,
        'bytes */300000',
        0,
      ])
      const etag = `"${revisionOf(content)}"`
      expect((await raw('pic.png', { 'if-none-match': etag })).status).toBe(304)
      const fresh = await raw('pic.png', { range: 'bytes=0-9', 'if-range': etag })
      expect([fresh.status, fresh.bytes.length]).toEqual([206, 10])
      const stale = await raw('pic.png', { range: 'bytes=0-9', 'if-range': `"${nowhere}"` })
      expect([stale.status, stale.bytes.length]).toEqual([200, 300_000])
    })

    it('[FILE15] HEAD tells what there is without sending it', async () => {
      const head = (headers: Record<string, string> = {}) =>
        place.send(
          { method: 'HEAD' as 'GET', path: readRawFile.path },
          { query: { path: 'pic.png' }, headers },
        )
      const answer = await head()
      expect([answer.status, answer.headers.get('content-length'), answer.bytes.length]).toEqual([
        200,
        '300000',
        0,
      ])
      expect((await head({ 'if-none-match': `"${revisionOf(content)}"` })).status).toBe(304)
    })

    it('[FILE14] of what is not a file are refused', async () => {
      await create('d/x')
      expect(await raw('d')).toMatchObject({ status: 400, error: { details: { reason: 'NOT_A_FILE' } } })
    })
  })

  describe('searching', () => {
    const search = async (query: string, more: Record<string, string> = {}) =>
      await place.send(searchFiles, { query: { query, ...more } })
    const found = (answer: Answer) =>
      (answer.data.matches as { path: string; line: number; column: number }[]).map(
        ({ path, line, column }) => `${path}:${line}:${column}`,
      )

    beforeEach(async () => {
      await create('src/a.ts', 'const alpha = 1\nconst beta = alpha\n')
      await create('b.md', 'Alpha and alphabet\n')
      await create('out/c.ts', 'alpha\n')
      await create('.gitignore', 'out\n')
    })

    it('[FILE17] finds a text as it is on disk, in the order of path and line', async () => {
      const answer = await search('alpha')
      expect(answer.data.truncated).toBe(false)
      expect(found(answer)).toEqual(['b.md:1:1', 'src/a.ts:1:7', 'src/a.ts:2:14'])
      expect(found(await search('alpha', { caseSensitive: 'true', wholeWord: 'true' }))).toEqual([
        'src/a.ts:1:7',
        'src/a.ts:2:14',
      ])
      expect(found(await search('const \\w+ = \\d', { regex: 'true' }))).toEqual(['src/a.ts:1:1'])
      expect(found(await search('const \\w+'))).toEqual([])
      expect(found(await search('alpha', { glob: '*.md' }))).toEqual(['b.md:1:1'])
      expect(found(await search('alpha', { path: 'src', limit: '1' }))).toEqual(['src/a.ts:1:7'])
      expect((await search('alpha', { limit: '1' })).data.truncated).toBe(true)
    })

    it('[FILE17] refuses a pattern that is none, and takes one that begins like an option as a text', async () => {
      expect(await search('a(', { regex: 'true' })).toMatchObject({
        status: 400,
        error: { code: 'INVALID_REQUEST' },
      })
      expect((await search('')).status).toBe(400)
      await create('dash.txt', '--files --pre=x\n')
      expect(found(await search('--files'))).toEqual(['dash.txt:1:1'])
    })
  })
})
