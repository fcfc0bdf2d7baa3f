import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadInstallationSecret } from './installation-secret.ts'

let dataDirectory: string

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'atelier-secret-'))
})
afterEach(() => rm(dataDirectory, { recursive: true, force: true }))

const load = (configured?: string) => loadInstallationSecret({ configured, dataDirectory })

describe('the secret of an installation', () => {
  it('[AUTH16] is made once, kept, and readable by its owner only', async () => {
    const secret = await load()
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
    expect(await load()).toBe(secret)
    expect((await stat(join(dataDirectory, 'secret'))).mode & 0o777).toBe(0o600)
    expect(await readdir(dataDirectory)).toEqual(['secret'])
  })

  it('[AUTH16] is one, however many processes ask for it first', async () => {
    const secrets = await Promise.all(Array.from({ length: 20 }, () => load()))
    expect(new Set(secrets).size).toBe(1)
  })

  it('[AUTH16] is taken from the configuration where that has one, and nothing is written', async () => {
    const configured = 'a-secret-of-more-than-32-characters!'
    expect(await load(configured)).toBe(configured)
    expect(await readdir(dataDirectory)).toEqual([])
  })

  it('[AUTH16] a damaged file stops the start instead of being replaced', async () => {
    await writeFile(join(dataDirectory, 'secret'), 'short\n')
    await expect(load()).rejects.toThrow(/is damaged/)
  })
})
