import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@atelier/client'
import {
  createFile,
  deleteWorkspace,
  importIntoWorkspace,
  readFiles,
  startWorkspace,
  stopWorkspace,
  watchFiles,
} from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runIn } from '../contract/run-in-workspace.ts'
import { noBubblewrap } from './runtime-support/runtimes.ts'
import { startServerProcess } from './server-process.ts'
import { namesIn, openSession, openTerminal } from './session-site.ts'

// Servers are started and stopped here; on a busy machine that takes its time.
vi.setConfig({ testTimeout: 180_000 })

const noSandbox = noBubblewrap()
const isRoot = process.getuid?.() === 0
const minute = 60_000

describe.skipIf(noSandbox)('the sandbox of a workspace', () => {
  let server: TestServer
  let ada: Person
  let passed = 0
  beforeAll(async () => {
    server = await startTestServer({ overrides: { clock: () => Date.now() + passed } })
    ada = await signUpPerson(server.url)
  })
  afterAll(() => server?.[Symbol.asyncDispose]())
  const open = () => openSession(server, ada)

  it('[SESS1][SESS2][SESS5] is stopped, runs with the first use, and says why and how isolated it is', async () => {
    const place = await open()
    expect(await place.status()).toMatchObject({
      desired: 'stopped',
      state: 'stopped',
      reason: 'not started yet',
      stopsAt: null,
      usage: null,
    })
    await place.api.call(createFile, { body: { workspaceId: place.workspaceId, path: 'a' } })
    const status = await place.status()
    expect(status).toMatchObject({
      desired: 'running',
      state: 'running',
      isolation: { runtime: 'process', kind: 'namespace', available: true, reason: null },
      activity: [{ kind: 'request' }],
    })
    expect(status.isolation.limits).toEqual(expect.arrayContaining(['file size', 'processes']))
    expect(status.isolation.missing).toEqual(expect.arrayContaining([expect.stringContaining('disk space')]))
    const last = Math.max(...[status.since, status.activity[0]?.at ?? ''].map((time) => Date.parse(time)))
    expect(Date.parse(status.stopsAt ?? '') - last).toBe(30 * minute)
    await place.api.call(stopWorkspace, place.params)
    expect(await place.status()).toMatchObject({
      desired: 'stopped',
      state: 'stopped',
      reason: 'stopped by a member',
    })
    if (isRoot) expect(place.processes()).toBe(0)
  })

  it('[SESS2][SESS3] starts once for many, and of a start and a stop the last holds', async () => {
    const place = await open()
    const stop = () => place.api.call(stopWorkspace, place.params)
    const started = await Promise.all(Array.from({ length: 5 }, () => place.start()))
    expect(new Set(started.map(({ since }) => since)).size).toBe(1)
    if (isRoot) expect(place.pidsOfAgent()).toHaveLength(1)
    const stopping = stop()
    await expect.poll(async () => (await place.status()).state).toMatch(/^stop/)
    expect((await place.start()).state).toBe('running')
    await stopping
    expect((await place.status()).state).toBe('running')
    const starting = stop().then(() => place.start())
    expect((await starting).state).toBe('running')
    await stop()
    expect((await place.status()).state).toBe('stopped')
  })

  it('[SESS4] an open terminal, an open page and a job in the background do not keep it; a request and a foreground job do', async () => {
    const [forgotten, busy, used] = [await open(), await open(), await open()]
    const inPlace = ({ workspaceId }: { workspaceId: string }) => ({ workspaceId, person: ada })
    const prompt = await openTerminal(server.url, inPlace(forgotten))
    prompt.type('sleep 1000 & echo in the $((2 + 2))th\n')
    await expect.poll(prompt.output).toContain('in the 4th')
    const page = new AbortController()
    await forgotten.api.stream(watchFiles, forgotten.params, { signal: page.signal })
    const typed = await openTerminal(server.url, inPlace(busy))
    typed.type('sleep 1000\n')
    await expect
      .poll(async () => (await busy.status()).activity)
      .toContainEqual(expect.objectContaining({ kind: 'foreground-job', detail: 'sleep' }))

    passed += 20 * minute
    await used.api.call(readFiles, { query: { workspaceId: used.workspaceId } })
    passed += 15 * minute
    await forgotten.becomes('stopped')
    expect(await forgotten.status()).toMatchObject({
      reason: expect.stringMatching(/^idle for \d+ minutes$/),
    })
    await expect.poll(prompt.closed).not.toBeNull()
    page.abort()
    expect([(await busy.status()).state, (await used.status()).state]).toEqual(['running', 'running'])

    typed.type('\x03')
    typed.type('echo back at the $((2 + 2))th\n')
    await expect.poll(typed.output).toContain('back at the 4th')
    passed += 35 * minute
    await busy.becomes('stopped')
    await used.becomes('stopped')
    // What it was stopped for does not keep anybody from using it again.
    expect((await busy.start()).state).toBe('running')
  })

  it('[SESS9] is gone with its workspace: nobody starts it, nothing of it stays', async () => {
    const place = await open()
    await place.start()
    await openTerminal(server.url, { workspaceId: place.workspaceId, person: ada })
    const pids = isRoot ? place.pidsOfAgent() : []
    const deleting = place.api.call(deleteWorkspace, place.params)
    const late = await place.api.call(startWorkspace, place.params).then(
      ({ state }) => state,
      ({ status }: { status: number }) => status,
    )
    await deleting
    // A start that came before the deletion was answered; none comes after it.
    expect([404, 'running', 'stopping', 'stopped']).toContain(late)
    await expect(place.start()).rejects.toMatchObject({ status: 404 })
    expect(existsSync(place.directory)).toBe(false)
    for (const pid of pids) expect(existsSync(`/proc/${pid}`)).toBe(false)
  })

  it('[SESS13] has no network unless hosts are allowed, and then a proxy for those alone', async () => {
    const place = await open()
    const script =
      'env | grep -ic _proxy; ls /sys/class/net 2>/dev/null; cut -d: -f1 /proc/net/dev | tail -n +3'
    const run = (url: string, person: Person, workspaceId: string, source: string) =>
      runIn(url, person, { workspaceId, script: source })
    expect(
      (await run(server.url, ada, place.workspaceId, script)).stdout.split(/\s+/).filter(Boolean),
    ).toEqual(['0', 'lo'])
    await using reaching = await startTestServer({
      environment: { ATELIER_WORKSPACE_EGRESS: 'allowed.example' },
    })
    const bob = await signUpPerson(reaching.url)
    const other = await openSession(reaching, bob)
    const get = `fetch('http://refused.example/').then(({ status }) => console.log(status))`
    const { stdout } = await run(reaching.url, bob, other.workspaceId, `/opt/node/bin/node -e "${get}" 2>&1`)
    // What refuses is the proxy, which answers.
    expect(stdout).toMatch(/\b403\b/)
  })
})

describe('a server that cannot isolate', () => {
  it('[SESS10][SESS11] starts and serves everything else; a repair needs no restart', async () => {
    const path = mkdtempSync(join(tmpdir(), 'atelier-path-'))
    await using server = await startTestServer({ environment: { PATH: path } })
    const ada = await signUpPerson(server.url)
    // The start of the server has tried nothing yet.
    expect(namesIn(join(server.dataDirectory, 'workspaces'))).toEqual([])
    const place = await openSession(server, ada)
    await expect(place.start()).rejects.toMatchObject({
      status: 503,
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('apt-get install bubblewrap'),
    })
    expect(await place.status()).toMatchObject({
      state: 'failed',
      isolation: { available: false, reason: expect.stringContaining('apt-get install bubblewrap') },
    })
    if (noSandbox === undefined) {
      const bubblewrap = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'].find((file) =>
        existsSync(file),
      )
      symlinkSync(bubblewrap ?? '/usr/bin/bwrap', join(path, 'bwrap'))
      expect((await place.start()).state).toBe('running')
    }
    rmSync(path, { recursive: true })
  })

  it.skipIf(noSandbox)('[IMP18] does not import past a directory that it cannot write to', async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'atelier-directory-'))
    const start = (environment: Record<string, string>) =>
      startServerProcess({ ATELIER_DATA_DIR: dataDirectory, ...environment })
    let workspaceId: string
    let ada: Person
    {
      await using before = await start({})
      ada = await signUpPerson(before.url)
      const place = await openSession({ ...before, dataDirectory }, ada)
      workspaceId = place.workspaceId
      await place.api.call(createFile, { body: { workspaceId, path: 'a', content: 'kept' } })
    }
    {
      await using server = await start({ PATH: '/nonexistent' })
      const headers = { cookie: ada.cookie, origin: server.url }
      const api = createClient({ baseUrl: server.url, headers })
      const form = new FormData()
      form.append('files', new File(['lost'], 'b'))
      await expect(api.call(importIntoWorkspace, { params: { workspaceId }, form })).rejects.toMatchObject({
        status: 503,
        message: expect.stringContaining('apt-get install bubblewrap'),
      })
    }
    rmSync(dataDirectory, { recursive: true })
  })

  it('[SESS12] runs nothing without isolation beyond loopback, or for more than one person', async () => {
    const environment = { ATELIER_RUNTIME: 'none' }
    await expect(startTestServer({ environment: { ...environment, HOST: '0.0.0.0' } })).rejects.toThrow(
      'ATELIER_RUNTIME',
    )
    await using server = await startTestServer({ environment })
    const ada = await signUpPerson(server.url)
    const place = await openSession(server, ada)
    expect(await place.start()).toMatchObject({ state: 'running', isolation: { kind: 'none' } })
    await place.api.call(createFile, { body: { workspaceId: place.workspaceId, path: 'a', content: 'kept' } })
    expect(readFileSync(join(place.directory, 'home/workspace/a'), 'utf8')).toBe('kept')
    await place.api.call(stopWorkspace, place.params)
    const bob = await signUpPerson(server.url)
    const his = await openSession(server, bob)
    for (const { start } of [place, his])
      await expect(start()).rejects.toMatchObject({
        status: 503,
        message: expect.stringContaining('one person'),
      })
    const api = createClient({ baseUrl: server.url, headers: ada.headers })
    expect(await api.call(readFiles, { query: { workspaceId: place.workspaceId } })).toBeDefined()
  })
})
