import { execFileSync } from 'node:child_process'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { addWorkspaceMember, listWorkspacePorts, type WorkspacePort } from '@atelier/contract'
import { type Person, signUpPerson } from '@atelier/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { AgentClient } from '../../packages/server/src/platform/runtime/agent-client.ts'
import { type Answer, ask, type ContentSite, enter, startContentSite } from './content-site.ts'
import { put, shell } from './runtime-support/agent-calls.ts'

const noSandbox = missingBubblewrap()
if (noSandbox !== undefined) console.warn(`previews are not tested: ${noSandbox}`)

function missingBubblewrap(): string | undefined {
  try {
    execFileSync('bwrap', ['--version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'bubblewrap is not installed'
  }
}

const port = 5173
const megabytes = 24

/** What runs in the workspace: Node alone, so that nothing has to be installed there. */
const program = `
const { createServer } = require('node:http')
const { createHash } = require('node:crypto')
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://x')
  if (pathname === '/echo') {
    response.setHeader('set-cookie', ['app=1; Domain=localhost; Path=/x', 'atelier.session=stolen', '__Host-atelier.content=stolen; Path=/', 'noname'])
    response.setHeader('x-secret-hop', '1')
    response.setHeader('connection', 'close, x-secret-hop')
    response.setHeader('alt-svc', 'h3="evil.example:443"')
    return response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers }))
  }
  if (pathname === '/large') {
    let left = ${megabytes}
    const more = () => {
      while (left > 0) { left -= 1; if (!response.write(Buffer.alloc(1024 * 1024, left))) return response.once('drain', more) }
      response.end()
    }
    return more()
  }
  if (pathname === '/digest') {
    const hash = createHash('sha256')
    request.on('data', (part) => hash.update(part)).on('end', () => response.end(hash.digest('hex')))
    return
  }
  if (pathname === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: first\\n\\n')
    request.on('data', () => {}).on('close', () => {})
    server.once('go on', () => response.end('data: second\\n\\n'))
    return
  }
  if (pathname === '/go-on') { server.emit('go on'); return response.end('ok') }
  if (pathname === '/cut') { response.writeHead(200, { 'content-length': '100' }); response.write('half'); return setTimeout(() => response.destroy(), 50) }
  response.end('hello from the workspace')
})
server.on('upgrade', (request, socket) => {
  if (request.url === '/refused') return socket.end('HTTP/1.1 418 Teapot\\r\\nset-cookie: atelier.session=x\\r\\ncontent-length: 3\\r\\n\\r\\nno!')
  const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nset-cookie: atelier.session=x\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n')
  const text = 'cookie:' + (request.headers.cookie ?? '')
  socket.write(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]))
  socket.on('error', () => {})
})
server.listen(${port}, '127.0.0.1', () => console.log('listening'))
`

describe.skipIf(noSandbox !== undefined)('previews of ports', () => {
  let site: ContentSite
  let owner: Person
  let stranger: Person
  let workspaceId: string
  let agent: AgentClient
  let host: string
  let pass: string

  const hostOf = (id: string, wanted: number | string = port) =>
    `${wanted}--${id.slice(3).toLowerCase()}.localhost:${site.port}`
  const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    ask(site, { host, path, headers: { cookie: pass, ...headers } })
  const ports = async (person: Person, id = workspaceId) =>
    fetch(site.url + listWorkspacePorts.path.replace(':workspaceId', id), { headers: person.headers })

  beforeAll(async () => {
    site = await startContentSite({ codeServerDirectory: '/nowhere' })
    owner = await signUpPerson(site.url)
    stranger = await signUpPerson(site.url)
    workspaceId = await site.makeWorkspace(owner)
    agent = await site.start(workspaceId)
    host = hostOf(workspaceId)
    await put(agent, 'server.cjs', program)
    const call = agent.open('command.run', { command: ['node', 'server.cjs'], timeoutMs: 600_000 })
    for await (const message of call.messages) if (message.kind === 'data') break
    pass = await enter(site, await addressOf(owner), owner)
  })
  afterAll(() => site?.[Symbol.asyncDispose]())

  async function addressOf(person: Person): Promise<string> {
    const { data } = (await (await ports(person)).json()) as { data: { items: WorkspacePort[] } }
    const found = data.items.find((one) => one.port === port)
    if (!found?.url) throw new Error('the port has no address')
    return found.url
  }

  it('[PREV1] ports that programs listen on are listed with an address of their own', async () => {
    const { data } = (await (await ports(owner)).json()) as { data: { items: WorkspacePort[] } }
    expect(data.items).toEqual([
      { port, address: '127.0.0.1', url: expect.stringContaining(`http://${hostOf(workspaceId)}/`) },
    ])
    expect((await ports(stranger)).status).toBe(404)
    const idle = await site.makeWorkspace(owner)
    expect(((await (await ports(owner, idle)).json()) as { data: { items: unknown[] } }).data.items).toEqual(
      [],
    )
  })

  it('[PREV2] a signed-in editor gets in by one redirect each way and sees the program', async () => {
    const answer = await get('/')
    expect([answer.status, answer.text]).toEqual([200, 'hello from the workspace'])
  })

  it('[PREV3] without a pass nothing is told: a page is sent to sign in, all else is 401, existing or not', async () => {
    for (const name of [host, hostOf(`ws_${'0'.repeat(26)}`)]) {
      expect((await ask(site, { host: name, path: '/' })).status).toBe(401)
      const page = await ask(site, { host: name, path: '/x?y=1', headers: { accept: 'text/html' } })
      expect(page.status).toBe(302)
      expect(page.headers.location).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/content\/enter\?/)
    }
  })

  it('[PREV4] a stranger, a viewer and a pass for another address stay out', async () => {
    await expect(enter(site, await addressOf(owner), stranger)).rejects.toThrow('not found')
    await fetch(site.url + addWorkspaceMember.path.replace(':workspaceId', workspaceId), {
      method: 'POST',
      headers: { ...owner.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ email: stranger.email, role: 'viewer' }),
    })
    await expect(enter(site, await addressOf(owner), stranger)).rejects.toThrow('editor')
    const other = await site.makeWorkspace(owner)
    for (const name of [hostOf(other), hostOf(workspaceId, 8080)])
      expect((await ask(site, { host: name, path: '/', headers: { cookie: pass } })).status).toBe(401)
  })

  it('[PREV5] a ticket works once, in the browser that asked, at the address it was made for', async () => {
    const opened = await ask(site, {
      host,
      path: '/.atelier/open?from=127.0.0.1&next=/',
      headers: { accept: 'text/html' },
    })
    const nonce = (opened.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ')
    const at = new URL(opened.headers.location ?? '')
    const entered = await ask(site, {
      host: at.host,
      path: at.pathname + at.search,
      headers: { cookie: owner.cookie },
    })
    const back = new URL(entered.headers.location ?? '')
    const path = back.pathname + back.search
    const redeem = (name: string, cookie: string) => ask(site, { host: name, path, headers: { cookie } })
    expect((await redeem(host, '')).status).toBe(401)
    expect((await redeem(host, 'atelier.nonce=guess')).status).toBe(401)
    expect((await redeem(hostOf(workspaceId, 8080), nonce)).status).toBe(401)
    expect((await redeem(host, nonce)).status).toBe(302)
    expect((await redeem(host, nonce)).status).toBe(401)
  })

  it('[PREV6] our credentials never reach the program, its own do', async () => {
    const { text } = await get('/echo', {
      cookie: `app=mine; ${pass}; ${owner.cookie}; __Host-atelier.session=x; atelier.nonce=y`,
      authorization: `Bearer ${await owner.token()}`,
      'x-api-key': 'atl_1_2',
      'x-forwarded-for': '10.0.0.1',
      'proxy-authorization': 'Basic x',
      te: 'trailers',
    })
    const { headers } = JSON.parse(text) as { headers: Record<string, string> }
    expect(headers.cookie).toBe('app=mine')
    for (const name of ['authorization', 'x-api-key', 'x-forwarded-for', 'proxy-authorization', 'te'])
      expect(headers[name]).toBeUndefined()
    expect(headers).toMatchObject({ host, 'x-forwarded-host': host, 'x-forwarded-proto': 'http' })
    const own = JSON.parse((await get('/echo', { authorization: 'Bearer app' })).text) as {
      headers: Record<string, string>
    }
    expect(own.headers.authorization).toBe('Bearer app')
  })

  it('[PREV7] the program sets cookies for its own address only and never one of ours', async () => {
    const { headers } = await get('/echo')
    expect(headers['set-cookie']).toEqual(['app=1; Path=/x'])
    expect(headers['x-secret-hop']).toBeUndefined()
    expect(headers['alt-svc']).toBeUndefined()
    expect(headers['content-security-policy']).toContain('frame-ancestors')
  })

  it('[PREV8] large bodies pass both ways as streams and unchanged', async () => {
    const { text } = await get('/large')
    expect(text.length).toBe(megabytes * 1024 * 1024)
    const body = 'x'.repeat(3 * 1024 * 1024)
    const digest = (headers: Record<string, string>) =>
      ask(site, { host, path: '/digest', method: 'POST', headers: { cookie: pass, ...headers }, body })
    const expected = (await import('node:crypto')).createHash('sha256').update(body).digest('hex')
    expect((await digest({})).text).toBe(expected)
    expect((await digest({ 'transfer-encoding': 'chunked' })).text).toBe(expected)
  })

  it('[PREV8] events arrive one by one', async () => {
    const outgoing = request({
      host: '127.0.0.1',
      port: site.port,
      path: '/events',
      headers: { host, cookie: pass },
    })
    const seen = new Promise<string>((resolve, reject) => {
      outgoing.once('error', reject)
      outgoing.once('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => {
          // The second is sent only once the first has come through.
          if (text === '') void get('/go-on')
          text += part
        })
        response.once('end', () => resolve(text))
      })
    })
    outgoing.end()
    expect(await seen).toBe('data: first\n\ndata: second\n\n')
  })

  it('[PREV8] an answer that breaks off is cut, never completed', async () => {
    await expect(get('/cut')).rejects.toThrow()
  })

  it('[PREV8] browsers that go away in the middle disturb nobody else', async () => {
    const leave = () =>
      new Promise<void>((resolve) => {
        const options = {
          host: '127.0.0.1',
          port: site.port,
          path: '/large',
          headers: { host, cookie: pass },
        }
        const outgoing = request(options, (response) =>
          response.once('data', () => {
            outgoing.destroy()
            resolve()
          }),
        )
        outgoing.on('error', () => undefined)
        outgoing.end()
      })
    for (let round = 0; round < 5; round += 1) await Promise.all(Array.from({ length: 10 }, leave))
    await expect.poll(async () => (await agent.call('agent.activity', {})).connections).toBe(0)
    expect((await get('/')).text).toBe('hello from the workspace')
  })

  it('[PREV9] WebSockets pass for the page of the same address only', async () => {
    const open = (origin: string, cookie = pass) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(`ws://127.0.0.1:${site.port}/live`, {
          origin,
          headers: { host, cookie },
        })
        socket.once('message', (data) => {
          resolve(String(data))
          socket.close()
        })
        socket.once('unexpected-response', (_request, response) => resolve(String(response.statusCode)))
        socket.once('error', (error) => resolve(error.message))
      })
    expect(await open(`http://${host}`, `app=1; ${pass}`)).toBe('cookie:app=1')
    for (const origin of [site.url, `http://${hostOf(workspaceId, 8080)}`, 'null'])
      expect(await open(origin)).toBe('403')
    expect(await open(`http://${host}`, '')).toBe('401')
  })

  it('[PREV9] an upgrade that the program refuses ends the connection: nothing more gets through on it', async () => {
    const socket = connect(site.port, '127.0.0.1')
    const received = new Promise<string>((resolve) => {
      let text = ''
      socket.on('data', (part: Buffer) => {
        text += part.toString()
      })
      socket.once('close', () => resolve(text))
    })
    const head = `host: ${host}\r\ncookie: ${pass}\r\n`
    socket.write(
      `GET /refused HTTP/1.1\r\n${head}origin: http://${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: eA==\r\nsec-websocket-version: 13\r\n\r\nGET /echo HTTP/1.1\r\n${head}\r\n`,
    )
    const text = await received
    expect(text).toMatch(/^HTTP\/1\.1 418 /)
    expect(text).not.toContain('set-cookie')
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1)
  })

  it('[PREV10] what another page asks for is refused, whatever cookies the browser adds', async () => {
    const cases: [Record<string, string>, number][] = [
      [{ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, 403],
      [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', origin: site.url }, 403],
      [{ origin: `http://${hostOf(workspaceId, 8080)}` }, 403],
      [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, 200],
      [{ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', origin: `http://${host}` }, 200],
    ]
    for (const [headers, status] of cases) expect((await get('/', headers)).status).toBe(status)
    const form = await ask(site, {
      host,
      path: '/',
      method: 'POST',
      headers: {
        cookie: pass,
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      },
    })
    expect(form.status).toBe(403)
  })

  it('[PREV11] the page of a preview is another origin than ours, and its cookie is worth nothing here', async () => {
    const stolen = pass.replace('atelier.content=', 'atelier.session=')
    for (const cookie of [pass, stolen])
      expect((await fetch(`${site.url}/api/workspaces`, { headers: { cookie } })).status).toBe(401)
    const api = await get('/api/workspaces', { cookie: `${pass}; ${owner.cookie}` })
    expect(api.text).toBe('hello from the workspace')
    const foreign = await fetch(`${site.url}/api/workspaces`, {
      method: 'POST',
      headers: { cookie: owner.cookie, origin: `http://${host}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Made by a preview' }),
    })
    expect(foreign.status).toBe(403)
  })

  it('[PREV12] where nothing listens, the answer is 502 and says how to bind', async () => {
    const empty = hostOf(workspaceId, 8080)
    const address = `http://${empty}/.atelier/open?from=127.0.0.1&next=/`
    const cookie = await enter(site, address, owner)
    const answer = await ask(site, { host: empty, path: '/', headers: { cookie, accept: 'text/html' } })
    expect(answer.status).toBe(502)
    expect(answer.text).toContain('127.0.0.1:8080 or 0.0.0.0:8080')
  })

  it('[PREV13] a port of the host’s loopback is not the workspace’s: nothing of the host answers', async () => {
    await using owned = new AsyncDisposableStack()
    const secretServer = createServer((_request, response) => response.end('host secret'))
    await new Promise<void>((resolve) => secretServer.listen(0, '127.0.0.1', resolve))
    owned.defer(() => void secretServer.close())
    const hostPort = (secretServer.address() as AddressInfo).port
    expect(await (await fetch(`http://127.0.0.1:${hostPort}/`)).text()).toBe('host secret')
    for (const wanted of [hostPort, site.port]) {
      const name = hostOf(workspaceId, wanted)
      const cookie = await enter(site, `http://${name}/.atelier/open?from=127.0.0.1&next=/`, owner)
      const answer = await ask(site, { host: name, path: '/', headers: { cookie } })
      expect([answer.status, answer.text.includes('host secret')]).toEqual([502, false])
    }
  })

  it('[PREV13] no address can be named: only a port, in the workspace’s own namespace', async () => {
    const ulid = workspaceId.slice(3).toLowerCase()
    const names = ['0', '65536', '169.254.169.254', '80.evil', '-1', '5173x', '05173', '%35173', ''].map(
      (label) => `${label}--${ulid}.localhost:${site.port}`,
    )
    for (const name of names) {
      expect((await ask(site, { host: name, path: '/', headers: { cookie: pass } })).status).not.toBe(200)
    }
    // A request line with a whole address names a path here, never a place.
    const absolute = await ask(site, { host, path: 'http://169.254.169.254/echo', headers: { cookie: pass } })
    expect(absolute.text).not.toContain('ami-id')
    await expect(
      agent.call('dial', { target: { kind: 'tcp', port: 80, host: '169.254.169.254' } } as never),
    ).rejects.toThrow()
  })

  it('[PREV14] opening an address of a stopped workspace starts nothing', async () => {
    const asleep = await site.makeWorkspace(owner)
    const name = hostOf(asleep)
    const cookie = await enter(site, `http://${name}/.atelier/open?from=127.0.0.1&next=/`, owner)
    const answer = await ask(site, { host: name, path: '/', headers: { cookie } })
    expect([answer.status, answer.text]).toEqual([502, expect.stringContaining('does not run')])
    expect(site.sessions.running(asleep)).toBeUndefined()
  })

  it('[PREV15] the way in leads nowhere else', async () => {
    for (const next of ['//evil.example/x', 'https://evil.example/', '/\\evil.example', '\\\\evil.example']) {
      const path = `/.atelier/open?${new URLSearchParams({ from: 'evil.example', next })}`
      const { headers } = await ask(site, { host, path })
      const location = new URL(headers.location ?? '')
      expect(location.hostname).toBe('127.0.0.1')
      expect(location.searchParams.get('next')).not.toMatch(/^[/\\]{2}|evil\.example\/?$/)
    }
  })

  it('[PREV16] a request counts as activity of the workspace', async () => {
    site.pass(60_000)
    await get('/')
    const { activity } = await site.sessions.status(workspaceId)
    expect(activity.map(({ kind }) => kind)).toContain('preview')
  })

  it('[PREV18] in a frame of our page the cookies are partitioned, and only content hosts may be framed', async () => {
    const open = async (dest: string) => {
      const { headers } = await ask(site, {
        host,
        path: '/.atelier/open?from=127.0.0.1&next=/',
        headers: { 'sec-fetch-dest': dest },
      })
      return headers['set-cookie'] ?? []
    }
    for (const cookie of await open('iframe')) expect(cookie).toMatch(/; SameSite=None; Secure; Partitioned$/)
    for (const cookie of await open('document')) expect(cookie).toMatch(/; HttpOnly; SameSite=Lax$/)
    const { headers } = await fetch(`${site.url}/api/health/live`)
    expect(headers.get('content-security-policy')).toContain("frame-src 'self' http://*.localhost:*;")
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  })

  it('[PREV17] who signs out loses the preview', async () => {
    const again = await owner.signInAgain()
    const cookie = await enter(site, await addressOf(again), again)
    expect((await ask(site, { host, path: '/', headers: { cookie } })).status).toBe(200)
    await fetch(`${site.url}/api/auth/sign-out`, { method: 'POST', headers: again.headers })
    site.pass(60_000)
    await expect
      .poll(async () => (await ask(site, { host, path: '/', headers: { cookie } })).status)
      .toBe(401)
    expect((await shell(agent, 'true')).exitCode).toBe(0)
  })

  it('[PREV17] an answer that is still being sent ends for who has signed out', async () => {
    const again = await owner.signInAgain()
    const cookie = await enter(site, await addressOf(again), again)
    const options = { host: '127.0.0.1', port: site.port, path: '/events', headers: { host, cookie } }
    const stream = await new Promise<IncomingMessage>((resolve, reject) => {
      request(options, resolve).on('error', reject).end()
    })
    const ended = new Promise<string>((resolve) => {
      stream.resume().on('error', () => resolve('cut'))
      stream.on('end', () => resolve('complete'))
    })
    await fetch(`${site.url}/api/auth/sign-out`, { method: 'POST', headers: again.headers })
    site.pass(60_000)
    expect(await ended).toBe('cut')
  })
})
