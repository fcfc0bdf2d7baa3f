import {
  changeFiles,
  createFile,
  deleteFile,
  maxFileContentBytes,
  moveFile,
  replaceFile,
} from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noBubblewrap } from '../integration/runtime-support/runtimes.ts'
import { fileCalls, nowhere, revisionOf } from './file-calls.ts'
import { type LiveWorkspace, openLiveWorkspace } from './live-workspace.ts'

describe.skipIf(noBubblewrap())('changing the files of a workspace', () => {
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

  const { create, read, shell, list, pathsIn } = fileCalls(() => ({ url: server.url, person: ada, place }))

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
})
