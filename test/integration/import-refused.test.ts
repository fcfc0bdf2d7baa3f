import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@atelier/client'
import {
  createFile,
  createWorkspace,
  importIntoWorkspace,
  readFiles,
  searchWorkspace,
  uploadFiles,
} from '@atelier/contract'
import { signUpPerson } from '@atelier/testkit'
import { describe, expect, it } from 'vitest'
import { noBubblewrap } from './runtime-support/runtimes.ts'
import { startServerProcess } from './server-process.ts'

describe.skipIf(noBubblewrap())('a workspace whose directory cannot be written to', () => {
  it('[IMP18] refuses imports and uploads with 503, and keeps what it has', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'atelier-refused-'))
    try {
      const first = await startServerProcess({ ATELIER_DATA_DIR: directory })
      const person = await signUpPerson(first.url)
      const before = createClient({ baseUrl: first.url, headers: person.headers })
      const { id: workspaceId } = await before.call(createWorkspace, { body: { name: 'Live' } })
      await before.call(createFile, {
        body: { workspaceId, path: 'kept.ts', content: 'export const kept = 1\n' },
      })
      const find = { body: { workspaceId, query: 'kept' } }
      await expect.poll(async () => (await before.call(searchWorkspace, find)).results).toHaveLength(1)
      await first.stop()

      await using second = await startServerProcess({ ATELIER_DATA_DIR: directory, PATH: '/nonexistent' })
      const after = createClient({
        baseUrl: second.url,
        headers: { cookie: person.cookie, origin: second.url },
      })
      const form = () => {
        const data = new FormData()
        data.append('files', new File(['export const lost = 1\n'], 'lost.ts'))
        return data
      }
      const upload = form()
      upload.append('workspaceId', workspaceId)
      const refused = { code: 'SERVICE_UNAVAILABLE', status: 503 }
      await expect(
        after.call(importIntoWorkspace, { params: { workspaceId }, form: form() }),
      ).rejects.toMatchObject(refused)
      await expect(after.call(uploadFiles, { form: upload })).rejects.toMatchObject(refused)

      expect((await after.call(searchWorkspace, find)).results.map(({ path }) => path)).toEqual(['kept.ts'])
      const listed = await after.call(readFiles, { query: { workspaceId } })
      expect(JSON.stringify(listed)).not.toContain('lost.ts')
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  }, 120_000)
})
