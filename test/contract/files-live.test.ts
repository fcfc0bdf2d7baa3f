import { createHash, randomBytes } from 'node:crypto'
import {
  addWorkspaceMember,
  changeFiles,
  createFile,
  deleteFile,
  exportWorkspace,
  getWorkspaceJob,
  importIntoWorkspace,
  listLimits,
  maxFileContentBytes,
  moveFile,
  readFiles,
  readRawFile,
  replaceFile,
  searchFiles,
} from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noBubblewrap } from '../integration/runtime-support/runtimes.ts'
import { type Answer, type LiveWorkspace, openLiveWorkspace } from './live-workspace.ts'
import { runIn } from './run-in-workspace.ts'

const noSandbox = noBubblewrap()

const revisionOf = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex')
const nowhere = 'f'.repeat(64)

describe.skipIf(noSandbox)('the files of a workspace', () => {
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

  const create = (path: string, content = '', more: object = {}) =>
    place.send(createFile, { body: { path, content, ...more } })
  const read = (path: string, headers?: Record<string, string>) =>
    place.send(readFiles, { query: { path }, ...(headers ? { headers } : {}) })
  const raw = (path: string, headers?: Record<string, string>) =>
    place.send(readRawFile, { query: { path }, ...(headers ? { headers } : {}) })
  /** Runs a script in the workspace, as a terminal would. */
  const shell = (script: string) => runIn(server.url, ada, { workspaceId: place.workspaceId, script })

  async function list(path = '', query: Record<string, string> = {}): Promise<Record<string, unknown>[]> {
    const { data } = await place.send(readFiles, { query: { path, depth: '64', ...query } })
    return data.entries as Record<string, unknown>[]
  }
  const pathsIn = async (path?: string, query?: Record<string, string>) =>
    (await list(path, query)).map((entry) => entry.path)

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

  describe('creating', () => {
    it('[FILE10] makes a file with its folders, durable, with its revision', async () => {
      const answer = await create('a/b/run.sh', '#!/bin/sh\necho ran\n', { executable: true })
      expect(answer).toMatchObject({
        status: 201,
        data: { path: 'a/b/run.sh', kind: 'file', revision: revisionOf('#!/bin/sh\necho ran\n'), size: 19 },
      })
      expect(answer.headers.get('etag')).toBe(`"${answer.data.revision}"`)
      expect((await shell('./a/b/run.sh')).stdout).toBe('ran\n')
    })

    it('[FILE10] is 409 where a file, a folder or a link is, with the revision of a file', async () => {
      await create('a', 'one')
      await create('d', '', { kind: 'directory' })
      await shell('ln -s nowhere l')
      expect(await create('a', 'two')).toMatchObject({
        status: 409,
        error: { code: 'CONFLICT', details: { revision: revisionOf('one') } },
      })
      for (const path of ['a', 'd', 'l'])
        for (const kind of ['file', 'directory'])
          expect((await create(path, '', { kind })).status, `${kind} ${path}`).toBe(409)
      expect((await read('a')).data.content).toBe('one')
    })

    it('[FILE10] below a file is 404: there is no such folder', async () => {
      await create('a', 'one')
      expect((await create('a/b', 'x')).status).toBe(404)
    })

    it('[FILE12] refuses what is not what it says it is', async () => {
      const cases: [object, string][] = [
        [{ content: '\ud800' }, 'content'],
        [{ content: 'a', encoding: 'base64' }, 'content'],
        [{ content: '????', encoding: 'base64' }, 'content'],
        [{ encoding: 'latin1' }, 'encoding'],
        [{ colour: 'red' }, 'colour'],
      ]
      for (const [more, field] of cases) {
        expect(await place.send(createFile, { body: { path: 'a', ...more } })).toMatchObject({
          status: 400,
          error: { code: 'VALIDATION_ERROR', details: { field } },
        })
      }
      expect((await create('a', 'x', { kind: 'directory' })).status).toBe(400)
      expect(await pathsIn()).toEqual([])
    })

    it('[FILE12] takes 8 MiB and not a byte more', async () => {
      const full = 'x'.repeat(maxFileContentBytes)
      expect((await create('full', full)).status).toBe(201)
      expect(await create('more', `${full}x`)).toMatchObject({
        status: 413,
        error: { code: 'PAYLOAD_TOO_LARGE', details: { limit: maxFileContentBytes } },
      })
      expect((await create('far', 'x'.repeat(17 * 1024 * 1024))).status).toBe(413)
      expect(await pathsIn()).toEqual(['full'])
    })
  })

  describe('replacing', () => {
    const replace = (path: string, content: string, more: object = {}, headers?: Record<string, string>) =>
      place.send(replaceFile, { body: { path, content, ...more }, ...(headers ? { headers } : {}) })

    it('[FILE11] takes the revision from the body or from If-Match', async () => {
      await create('a', 'one')
      const second = await replace('a', 'two', { baseRevision: revisionOf('one') })
      expect(second).toMatchObject({ status: 200, data: { revision: revisionOf('two'), size: 3 } })
      const third = await replace('a', 'three', {}, { 'if-match': second.headers.get('etag') ?? '' })
      expect(third).toMatchObject({ status: 200, data: { revision: revisionOf('three') } })
      expect((await read('a')).data.content).toBe('three')
    })

    it.each([
      ['no base', {}, undefined, 'baseRevision'],
      ['a base that is none', { baseRevision: 'abc' }, undefined, 'baseRevision'],
      ['any base', {}, '*', 'if-match'],
      ['several bases', {}, `"${nowhere}", "${nowhere}"`, 'if-match'],
      ['two bases that differ', { baseRevision: revisionOf('one') }, `"${nowhere}"`, 'baseRevision'],
      ['nothing and something', { baseRevision: null }, `"${nowhere}"`, 'baseRevision'],
    ])('[FILE11] with %s is 400', async (_title, more, match, field) => {
      await create('a', 'one')
      expect(await replace('a', 'two', more, match ? { 'if-match': match } : undefined)).toMatchObject({
        status: 400,
        error: { code: 'VALIDATION_ERROR', details: { field } },
      })
      expect((await read('a')).data.content).toBe('one')
    })

    it('[FILE11] at another revision is 409; what it names goes through', async () => {
      await create('a', 'one')
      const stale = await replace('a', 'mine', { baseRevision: nowhere })
      expect(stale).toMatchObject({ status: 409, error: { code: 'CONFLICT' } })
      expect(stale.error.details?.revision).toBe(revisionOf('one'))
      expect((await replace('a', 'mine', { baseRevision: stale.error.details?.revision })).status).toBe(200)

      const gone = await replace('b', 'mine', { baseRevision: nowhere })
      expect([gone.status, gone.error.details?.revision]).toEqual([409, null])
      expect((await replace('b', 'mine', { baseRevision: gone.error.details?.revision })).status).toBe(200)
      expect((await replace('b', 'again', { baseRevision: null })).status).toBe(409)
    })

    it('[FILE11] twenty at once with the same base: exactly one wins, and it is what is there', async () => {
      await create('a', 'start')
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          replace('a', `writer ${at}`, { baseRevision: revisionOf('start') }),
        ),
      )
      const won = answers.filter(({ status }) => status === 200)
      expect(won).toHaveLength(1)
      for (const lost of answers.filter(({ status }) => status !== 200)) {
        expect(lost).toMatchObject({ status: 409, error: { details: { revision: won[0]?.data.revision } } })
      }
      expect((await read('a')).data.revision).toBe(won[0]?.data.revision)
    })

    it('[FILE12] keeps what may be run, unless told otherwise', async () => {
      await create('a', 'one', { executable: true })
      await replace('a', 'two', { baseRevision: revisionOf('one') })
      expect(await list()).toMatchObject([{ executable: true }])
      await replace('a', 'three', { baseRevision: revisionOf('two'), executable: false })
      expect(await list()).toMatchObject([{ executable: false }])
    })

    it('[FILE11] of a folder is refused', async () => {
      await create('d', '', { kind: 'directory' })
      expect(await replace('d', 'x', { baseRevision: null })).toMatchObject({
        status: 400,
        error: { details: { reason: 'NOT_A_FILE' } },
      })
    })
  })

  describe('moving and deleting', () => {
    const move = (from: string, to: string) => place.send(moveFile, { body: { from, to } })
    const remove = (path: string, query: Record<string, string> = {}, headers?: Record<string, string>) =>
      place.send(deleteFile, { query: { path, ...query }, ...(headers ? { headers } : {}) })

    it('[FILE13] moves files and folders to names that are free', async () => {
      await create('a/b.txt', 'content')
      expect(await move('a/b.txt', 'x/y/b.txt')).toMatchObject({
        status: 200,
        data: { path: 'x/y/b.txt', kind: 'file', revision: revisionOf('content'), size: 7 },
      })
      expect(await move('x', 'z')).toMatchObject({ data: { path: 'z', kind: 'directory', revision: null } })
      expect(await pathsIn()).toEqual(['a', 'z', 'z/y', 'z/y/b.txt'])
      expect((await move('no', 'n')).status).toBe(404)
      expect((await move('z', 'a')).status).toBe(409)
      expect((await move('z', 'z/y/z')).status).toBe(400)
      expect((await move('z', 'z')).status).toBe(400)
      expect(await pathsIn()).toEqual(['a', 'z', 'z/y', 'z/y/b.txt'])
    })

    it('[FILE8] a link is moved and deleted as what it is', async () => {
      await shell('mkdir keep && echo kept > keep/file && ln -s keep link')
      expect(await move('link', 'other')).toMatchObject({ data: { kind: 'symlink', revision: null } })
      expect((await remove('other', { recursive: 'true' })).status).toBe(200)
      expect((await read('keep/file')).data.content).toBe('kept\n')
    })

    it('[FILE13] deletes a folder that is not empty only when told to, and a file at its revision', async () => {
      await create('d/a', 'one')
      expect(await remove('d')).toMatchObject({ status: 409, error: { details: { reason: 'NOT_EMPTY' } } })
      expect(await remove('d/a', {}, { 'if-match': `"${nowhere}"` })).toMatchObject({
        status: 409,
        error: { details: { revision: revisionOf('one') } },
      })
      expect((await remove('d/a', { baseRevision: revisionOf('one') })).status).toBe(200)
      expect((await remove('d/a')).status).toBe(404)
      await create('d/e/f', 'x')
      expect(await remove('d', { recursive: 'true' })).toMatchObject({ status: 200, data: { path: 'd' } })
      expect(await pathsIn()).toEqual([])
    })
  })

  describe('a batch', () => {
    const batch = (...operations: object[]) => place.send(changeFiles, { body: { operations } })

    it('[FILE16] does all of its operations in one step and answers them in order', async () => {
      await create('old.txt', 'old')
      await create('gone/x', 'x')
      await create('from.txt', 'moved')
      const answer = await batch(
        { op: 'create', path: 'new/file.txt', content: 'bmV3', encoding: 'base64' },
        { op: 'replace', path: 'old.txt', content: 'newer', baseRevision: revisionOf('old') },
        { op: 'move', from: 'from.txt', to: 'to/there.txt' },
        { op: 'delete', path: 'gone' },
        { op: 'create', path: 'empty', kind: 'directory' },
      )
      expect(answer.status).toBe(200)
      expect(answer.data.results).toEqual([
        { op: 'create', path: 'new/file.txt', revision: revisionOf('new') },
        { op: 'replace', path: 'old.txt', revision: revisionOf('newer') },
        { op: 'move', path: 'to/there.txt', revision: null },
        { op: 'delete', path: 'gone', revision: null },
        { op: 'create', path: 'empty', revision: null },
      ])
      expect(await pathsIn()).toEqual(['empty', 'new', 'new/file.txt', 'to', 'to/there.txt', 'old.txt'])
    })

    const refusals: [string, object, number][] = [
      ['a stale revision', { op: 'replace', path: 'a', content: 'x', baseRevision: nowhere }, 409],
      ['a name that is taken', { op: 'create', path: 'a' }, 409],
      ['a folder that is there', { op: 'create', path: 'd', kind: 'directory' }, 409],
      ['a target that is taken', { op: 'move', from: 'd/b', to: 'a' }, 409],
      ['a file that is not there', { op: 'delete', path: 'no' }, 404],
      ['a source that is not there', { op: 'move', from: 'no', to: 'n' }, 404],
      ['a stale deletion', { op: 'delete', path: 'a', baseRevision: nowhere }, 409],
      ['the same path twice', { op: 'replace', path: 'n1', content: 'y', baseRevision: null }, 400],
      ['a path below another', { op: 'create', path: 'n1/below' }, 400],
      ['a path outside', { op: 'create', path: '../x' }, 400],
      ['an unknown operation', { op: 'copy', path: 'a' }, 400],
      ['a bad content', { op: 'create', path: 'n3', content: '\ud800' }, 400],
    ]
    it.each(refusals)('[FILE16] with %s changes nothing', async (_title, operation, status) => {
      await create('a', 'one')
      await create('d/b', 'two')
      const before = await list('', { revisions: 'true' })
      const answer = await batch(
        { op: 'create', path: 'n1', content: 'x' },
        { op: 'create', path: 'n2/deep/x', content: 'x' },
        operation,
      )
      expect(answer.status, answer.error.message).toBe(status)
      expect(await list('', { revisions: 'true' })).toEqual(
        before.map((entry) => expect.objectContaining({ path: entry.path, revision: entry.revision })),
      )
    })

    it('[FILE16] is bounded', async () => {
      const many = Array.from({ length: 1_001 }, (_, at) => ({ op: 'create', path: `f${at}` }))
      expect((await batch(...many)).status).toBe(400)
      expect((await batch()).status).toBe(400)
      expect((await batch(...many.slice(1))).status).toBe(200)
      expect(await pathsIn()).toHaveLength(1_000)
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
      const answer = await place.send(
        { method: 'HEAD' as 'GET', path: readRawFile.path },
        { query: { path: 'pic.png' } },
      )
      expect([answer.status, answer.headers.get('content-length'), answer.bytes.length]).toEqual([
        200,
        '300000',
        0,
      ])
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
