import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { createWorkspace, getIndexState, listLimits } from '@atelier/contract'
import { signUpPerson, startMockProviders, startPostgresServer, startTestServer } from '@atelier/testkit'
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { main, startServerProcess } from './server-process.ts'

const postgres = await startPostgresServer()
const available = 'url' in postgres

describe('the server', () => {
  it('[HTTP13] ends with code 0 at SIGTERM, whatever connections are kept alive, and starts again on its data', async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'atelier-server-'))
    try {
      const first = await startServerProcess({ ATELIER_DATA_DIR: dataDirectory })
      const person = await signUpPerson(first.url)
      const headers = { ...person.headers, 'content-type': 'application/json' }
      const body = JSON.stringify({ name: 'kept' })
      const created = await fetch(first.url + createWorkspace.path, { method: 'POST', headers, body })
      expect(created.status).toBe(201)
      expect(await first.stop()).toBe(0)
      await expect(fetch(first.url)).rejects.toThrow()

      await using second = await startServerProcess({ ATELIER_DATA_DIR: dataDirectory })
      const listed = await fetch(second.url + createWorkspace.path, { headers: person.headers })
      expect(((await listed.json()) as { data: { items: unknown[] } }).data.items).toMatchObject([
        { name: 'kept' },
      ])
    } finally {
      await rm(dataDirectory, { recursive: true, force: true })
    }
  })

  it('[HTTP13] finishes what is in flight also when one Ctrl-C arrives twice, from the terminal and through npm', async () => {
    await using providers = await startMockProviders()
    const dataDirectory = await mkdtemp(join(tmpdir(), 'atelier-server-'))
    try {
      const server = await startServerProcess({ ATELIER_DATA_DIR: dataDirectory, ...providers.environment })
      const person = await signUpPerson(server.url)
      providers.fail({ kind: 'hang' }, { times: 1 })
      const answer = fetch(`${server.url}/api/ai/chat`, {
        method: 'POST',
        headers: { ...person.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-6-luna', messages: [{ role: 'user', content: 'Wait for me' }] }),
      })
      const isAsked = () =>
        providers.requests.some(({ body }) => JSON.stringify(body).includes('Wait for me'))
      await expect.poll(isAsked).toBe(true)
      const ended = Promise.all([server.stop('SIGINT'), server.stop('SIGTERM')])
      // Nothing new is taken in any more; what hangs is answered now.
      await expect.poll(() => fetch(server.url).catch(() => 'closed')).toBe('closed')
      providers.heal()
      const { status } = await answer
      expect([await ended, status]).toEqual([[0, 0], expect.any(Number)])
    } finally {
      await rm(dataDirectory, { recursive: true, force: true })
    }
  })

  it('[DB20] a second one on the same data names the first by its process id, and ends with code 1', async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'atelier-server-'))
    try {
      await using first = await startServerProcess({ ATELIER_DATA_DIR: dataDirectory })
      const second = spawnSync(process.execPath, [main], {
        env: { PATH: process.env.PATH, DATABASE_URL: '', PORT: '0', ATELIER_DATA_DIR: dataDirectory },
        encoding: 'utf8',
      })
      expect([second.status, second.stderr]).toEqual([1, expect.stringContaining(`process ${first.pid}`)])
      expect((await fetch(`${first.url}/api/health`)).status).toBe(200)
    } finally {
      await rm(dataDirectory, { recursive: true, force: true })
    }
  })

  it('[HTTP12] lists its limits with values, units and meanings', async () => {
    await using server = await startTestServer({ environment: { RATE_LIMIT_AI: '7' } })
    const person = await signUpPerson(server.url)
    const response = await fetch(server.url + listLimits.path, { headers: person.headers })
    const { data } = (await response.json()) as { data: { items: { name: string; value: number }[] } }
    expect(data.items).toContainEqual(
      expect.objectContaining({ name: 'rate.ai', value: 7, unit: 'requests a minute' }),
    )
    expect(new Set(data.items.map(({ name }) => name)).size).toBe(data.items.length)
  })
})

describe.skipIf(!available)(
  `the server without its database${available ? '' : ' (no PostgreSQL here)'}`,
  () => {
    it('[HEALTH1, HEALTH2, HTTP9] tells the probes the truth and callers nothing of the cause, and recovers', async () => {
      if (!('url' in postgres)) return
      const lines: Record<string, unknown>[] = []
      const logger = pino(
        { level: 'error' },
        new Writable({ write: (line, _, done) => done(void lines.push(JSON.parse(String(line)))) }),
      )
      await using cluster = postgres
      await using server = await startTestServer({
        environment: { DATABASE_URL: cluster.url },
        overrides: { logger },
      })
      const person = await signUpPerson(server.url)
      const search = `${server.url}${getIndexState.path}?workspaceId=ws_01JD8XQ4ZK3V5N6P7R8S9T0ABC`
      await cluster.crash()
      // The servers of open connections see a moment later that their postmaster is gone.
      await expect.poll(async () => (await fetch(`${server.url}/api/health`)).status).toBe(503)

      for (const path of ['/api/health', '/api/health/ready']) {
        const response = await fetch(server.url + path)
        expect(response.status).toBe(503)
        expect(await response.json()).toMatchObject({
          success: false,
          error: { code: 'SERVICE_UNAVAILABLE', details: { status: 'unhealthy', database: 'disconnected' } },
        })
      }
      for (const path of ['/api/health/live', '/api/health/simple']) {
        expect((await fetch(server.url + path)).status).toBe(200)
      }
      const failed = await fetch(search, { headers: person.headers })
      expect(failed.status).toBe(503)
      const text = await failed.text()
      expect(text).not.toMatch(/ECONN|postgres|socket|\.ts|127\.0\.0\.1/)
      const { requestId } = JSON.parse(text) as { requestId: string }
      expect(lines).toContainEqual(expect.objectContaining({ requestId, level: 50 }))

      await cluster.start()
      await expect.poll(async () => (await fetch(`${server.url}/api/health/ready`)).status).toBe(200)
      const count = lines.length
      expect((await fetch(search, { headers: person.headers })).status).toBe(404)
      expect(lines).toHaveLength(count)
    })
  },
)
