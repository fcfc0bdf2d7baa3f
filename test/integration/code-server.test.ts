import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import {
  type CodeServerSession,
  type EndpointShape,
  listCodeServers,
  startCodeServer,
  stopCodeServer,
} from '@atelier/contract'
import { type Person, signUpPerson } from '@atelier/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { AgentClient } from '../../packages/server/src/platform/runtime/agent-client.ts'
import { ask, type ContentSite, enter, startContentSite } from './content-site.ts'
import { shell } from './runtime-support/agent-calls.ts'

const installation =
  process.env.ATELIER_CODE_SERVER_DIR ??
  fileURLToPath(new URL('../../.atelier-tools/code-server', import.meta.url))
const missing = whatIsMissing()
if (missing !== undefined) console.warn(`editor sessions are not tested: ${missing}`)

function whatIsMissing(): string | undefined {
  if (!existsSync(`${installation}/installed.json`))
    return 'code-server is not installed: npm run install:code-server'
  try {
    execFileSync('bwrap', ['--version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'bubblewrap is not installed'
  }
}

interface Reply<Data> {
  status: number
  data: Data
  error?: { code: string; message: string; details?: { command?: string } }
}

/** One request to the platform as a person's page makes it. */
async function call<Data>(
  site: ContentSite,
  person: Person,
  { method, path }: EndpointShape,
  parts: { body?: unknown; query?: Record<string, string> } = {},
): Promise<Reply<Data>> {
  const query = new URLSearchParams(parts.query).toString()
  const response = await fetch(`${site.url}${path}${query === '' ? '' : `?${query}`}`, {
    method,
    headers: {
      ...person.headers,
      ...(parts.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(parts.body === undefined ? {} : { body: JSON.stringify(parts.body) }),
  })
  return { status: response.status, ...((await response.json()) as Omit<Reply<Data>, 'status'>) }
}

describe('without an installation', () => {
  it('[EDIT2] the answer is 503 and names the command that installs it', async () => {
    await using site = await startContentSite({ codeServerDirectory: '/nowhere' })
    const owner = await signUpPerson(site.url)
    const workspaceId = await site.makeWorkspace(owner)
    const { status, error } = await call(site, owner, startCodeServer, { body: { workspaceId } })
    expect([status, error?.code]).toEqual([503, 'SERVICE_UNAVAILABLE'])
    expect(error?.message).toContain('npm run install:code-server')
    expect(error?.details?.command).toBe('npm run install:code-server')
    const stranger = await signUpPerson(site.url)
    expect((await call(site, stranger, startCodeServer, { body: { workspaceId } })).status).toBe(404)
  })
})

describe.skipIf(missing !== undefined)('editor sessions', () => {
  let site: ContentSite
  let owner: Person
  let workspaceId: string
  let agent: AgentClient
  let session: CodeServerSession
  let host: string
  let pass: string

  const get = (path: string, headers: Record<string, string> = {}) =>
    ask(site, { host, path, headers: { cookie: pass, ...headers } })
  const sessionsOf = async (person: Person) =>
    (await call<{ items: CodeServerSession[] }>(site, person, listCodeServers)).data.items

  async function open(): Promise<void> {
    const started = await call<CodeServerSession>(site, owner, startCodeServer, { body: { workspaceId } })
    expect(started.status).toBe(201)
    session = started.data
    host = new URL(session.url).host
    pass = await enter(site, session.url, owner)
  }

  beforeAll(async () => {
    site = await startContentSite({ codeServerDirectory: installation })
    owner = await signUpPerson(site.url)
    workspaceId = await site.makeWorkspace(owner)
    agent = await site.start(workspaceId)
    const started = performance.now()
    await open()
    const health = await get('/healthz')
    console.info(`code-server: /healthz ${health.status} after ${Math.round(performance.now() - started)} ms`)
  }, 120_000)
  afterAll(() => site?.[Symbol.asyncDispose]())

  it('[EDIT1] a session answers when it runs, and there is one a workspace', async () => {
    expect(session).toMatchObject({ workspaceId, status: 'running' })
    const again = await call<CodeServerSession>(site, owner, startCodeServer, { body: { workspaceId } })
    expect(again.data.id).toBe(session.id)
    expect(await sessionsOf(owner)).toHaveLength(1)
    const stranger = await signUpPerson(site.url)
    expect(await sessionsOf(stranger)).toEqual([])
    for (const endpoint of [listCodeServers, stopCodeServer])
      expect((await call(site, stranger, endpoint, { query: { id: session.id } })).status).toBe(404)
  })

  it('[EDIT4] health and the workbench pass through, at the root of an origin of its own', async () => {
    const health = await get('/healthz')
    expect([health.status, JSON.parse(health.text)]).toEqual([
      200,
      expect.objectContaining({ status: expect.any(String) }),
    ])
    const first = await get('/', { accept: 'text/html' })
    const next = new URL(first.headers.location ?? '/', `http://${host}/`)
    expect([first.status, next.host, next.searchParams.get('folder')]).toEqual([
      302,
      host,
      '/home/user/workspace',
    ])
    const page = await get(next.pathname + next.search, { accept: 'text/html' })
    expect(page.status).toBe(200)
    expect(page.text).toContain('vscode-workbench-web-configuration')
  })

  it('[EDIT4] WebSockets open for its own page only', async () => {
    const status = (origin: string, cookie: string) =>
      new Promise<string>((resolve) => {
        const path = '/stable-0000000000000000000000000000000000000000?reconnectionToken=x&reconnection=false'
        const socket = new WebSocket(`ws://127.0.0.1:${site.port}${path}`, {
          origin,
          headers: { host, cookie },
        })
        socket.once('open', () => {
          resolve('open')
          socket.close()
        })
        socket.once('unexpected-response', (_request, response) => resolve(String(response.statusCode)))
        socket.once('error', (error) => resolve(error.message))
      })
    expect(await status(`http://${host}`, pass)).toBe('open')
    expect(await status(site.url, pass)).toBe('403')
    expect(await status(`http://${host}`, owner.cookie)).toBe('401')
  })

  it('[EDIT3] it runs as the sandbox’s user, from a read-only installation, its data outside the project', async () => {
    const { stdout } = await shell(
      agent,
      `touch /opt/code-server/x 2>&1; stat -c '%U %F' /tmp/${session.id}.sock; ls -A /home/user/workspace; ls /home/user/.atelier/code-server/data`,
    )
    expect(stdout).toContain('Read-only file system')
    expect(stdout).toContain('user socket')
    expect(stdout).not.toContain('.vscode')
    expect(stdout).toContain('User')
    const { stdout: listening } = await shell(
      agent,
      'cat /proc/net/tcp /proc/net/tcp6 | grep -c " 0A " || true',
    )
    expect(listening.trim()).toBe('0')
  })

  it('[EDIT7] neither server’s cookies reach the other', async () => {
    const { headers } = await get('/', { cookie: `${pass}; ${owner.cookie}` })
    for (const cookie of headers['set-cookie'] ?? []) {
      expect(cookie).not.toMatch(/domain=/i)
      expect(cookie).not.toMatch(/^atelier\./)
    }
    expect((await fetch(`${site.url}/api/workspaces`, { headers: { cookie: pass } })).status).toBe(401)
  })

  it('[EDIT5] an open connection does not keep it: it stops when nothing is done, and can be started again', async () => {
    const socket = connect(site.port, '127.0.0.1')
    const key = 'dGhlIHNhbXBsZSBub25jZQ=='
    const joined = new Promise((resolve) => socket.once('data', resolve))
    socket.write(
      `GET /stable-0000000000000000000000000000000000000000?reconnectionToken=y&reconnection=false HTTP/1.1\r\nhost: ${host}\r\ncookie: ${pass}\r\norigin: http://${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`,
    )
    await joined
    site.pass(10 * 60_000)
    await get('/healthz')
    site.pass(10 * 60_000)
    site.editors.stopIdle()
    expect(await sessionsOf(owner)).toHaveLength(1)
    site.pass(6 * 60_000)
    // What a keep-alive looks like: a small masked frame.
    socket.write(Buffer.from([0x82, 0x80, 1, 2, 3, 4]))
    site.editors.stopIdle()
    expect(await sessionsOf(owner)).toEqual([])
    expect((await get('/healthz')).status).toBe(404)
    socket.destroy()
    await expect
      .poll(async () => (await shell(agent, 'pgrep -fc [c]ode-server/out/node || true')).stdout.trim())
      .toBe('0')
    await open()
    expect((await get('/healthz')).status).toBe(200)
  })

  it('[EDIT6] it ends with its sandbox, and at a request', async () => {
    await call(site, owner, stopCodeServer, { query: { id: session.id } })
    expect((await get('/healthz')).status).toBe(404)
    await open()
    await agent[Symbol.asyncDispose]()
    await expect.poll(() => sessionsOf(owner)).toEqual([])
    expect((await get('/healthz')).status).toBe(404)
  })

  it('[EDIT9] who waits for a session that is stopped while it starts gets 409, and can start it again', async () => {
    const idle = await site.makeWorkspace(owner)
    const start = () => call<CodeServerSession>(site, owner, startCodeServer, { body: { workspaceId: idle } })
    const one = () => site.editors.list(`127.0.0.1:${site.port}`).find(({ workspaceId: its }) => its === idle)
    const started = start()
    await expect.poll(() => one()?.status, { interval: 1 }).toBe('starting')
    site.editors.stop(one()?.id ?? '')
    const { status, error } = await started
    expect([status, error?.code]).toEqual([409, 'CONFLICT'])
    const again = await start()
    expect([again.status, again.data.status]).toEqual([201, 'running'])
  })
})
