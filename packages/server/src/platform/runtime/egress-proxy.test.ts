import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingHttpHeaders,
} from 'node:http'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEgress, egressLimits } from './egress-proxy.ts'

let directory: string
let echo: Server
let web: HttpServer
let seen: { url: string | undefined; headers: IncomingHttpHeaders } | undefined
const warnings: object[] = []
const logger = { warn: (data: object) => void warnings.push(data) }
const portOf = (server: Server) => {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'atelier-egress-'))
  echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(0, '127.0.0.1')
  web = createHttpServer((request, response) => {
    seen = { url: request.url, headers: request.headers }
    response.setHeader('keep-alive', 'timeout=5').end('from the web')
  }).listen(0, '127.0.0.1')
  await Promise.all([once(echo, 'listening'), once(web, 'listening')])
})
afterAll(() => {
  echo.close()
  web.close()
  rmSync(directory, { recursive: true })
})

/** A proxy that may reach the loopback under the names `inside.test` and `web.test`, as nothing in production may. */
async function openProxy(options: { addresses?: string[]; mayConnect?: (address: string) => boolean } = {}) {
  const socketPath = join(directory, `${Math.random().toString(36).slice(2)}.sock`)
  const open = createEgress({
    logger,
    resolve: async () => options.addresses ?? ['127.0.0.1'],
    ...('mayConnect' in options ? {} : { mayConnect: (address: string) => address === '127.0.0.1' }),
  })
  const allow = [`inside.test:${portOf(echo)}`, `web.test:${portOf(web)}`, 'public.test']
  const proxy = await open({ socketPath, allow, workspaceId: 'ws_test' })
  return { socketPath, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() }
}

async function dial(socketPath: string, text: string): Promise<Socket> {
  const socket = connect({ path: socketPath, allowHalfOpen: true })
  // A connection that is refused may break while it is written to.
  socket.on('error', () => undefined)
  socket.write(text)
  return socket
}

/** Everything the other side sends until it ends or `enough` holds. */
function answer(socket: Socket, enough: (text: string) => boolean = () => false): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const take = (part: Buffer) => {
      text += part.toString('latin1')
      if (enough(text)) settle()
    }
    const settle = () => {
      socket.off('data', take).off('end', settle).off('close', settle)
      resolve(text)
    }
    socket.on('data', take).once('end', settle).once('close', settle)
  })
}

const headerEnd = (text: string) => text.includes('\r\n\r\n')

describe('the egress proxy', () => {
  it('[SBX15] joins a CONNECT to an allowed host, and each direction ends on its own', async () => {
    await using proxy = await openProxy()
    const socket = await dial(
      proxy.socketPath,
      `CONNECT inside.test:${portOf(echo)} HTTP/1.1\r\nHost: inside.test\r\n\r\n`,
    )
    expect(await answer(socket, headerEnd)).toMatch(/^HTTP\/1\.1 200 /)
    socket.end('x'.repeat(500_000))
    expect((await answer(socket)).length).toBe(500_000)
  })

  it('[SBX15] forwards plain HTTP without what was meant for the proxy', async () => {
    await using proxy = await openProxy()
    const target = `http://web.test:${portOf(web)}/a?b=c`
    const socket = await dial(
      proxy.socketPath,
      `GET ${target} HTTP/1.1\r\nHost: other.test\r\nProxy-Authorization: x\r\nX-Kept: yes\r\nConnection: close\r\n\r\n`,
    )
    const text = await answer(socket)
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
    expect(text).toContain('from the web')
    expect(seen?.url).toBe('/a?b=c')
    expect(seen?.headers).toMatchObject({ host: `web.test:${portOf(web)}`, 'x-kept': 'yes' })
    expect(seen?.headers).not.toHaveProperty('proxy-authorization')
  })

  it.each([
    ['a host that is not on the list', 'CONNECT evil.test:443'],
    ['another port of an allowed host', 'CONNECT inside.test:22'],
    ['an address', 'CONNECT 127.0.0.1:80'],
    ['an address in brackets', 'CONNECT [::1]:80'],
    ['no port', 'CONNECT inside.test'],
    ['plain HTTP to an address', 'GET http://169.254.169.254/latest/meta-data/'],
    ['plain HTTP to another host', 'GET http://evil.test/'],
  ])('[SBX15] refuses %s, and says so in the log', async (_name, line) => {
    await using proxy = await openProxy()
    warnings.length = 0
    const socket = await dial(proxy.socketPath, `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(await answer(socket)).toMatch(/^HTTP\/1\.1 403 /)
    expect(warnings).toMatchObject([{ workspaceId: 'ws_test' }])
  })

  it.each([
    ['/path', 'GET /path'],
    ['https://', 'GET https://public.test/'],
    ['ftp://', 'GET ftp://public.test/'],
  ])('[SBX15] refuses %s, which is no request to a proxy', async (_name, line) => {
    await using proxy = await openProxy()
    const socket = await dial(proxy.socketPath, `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(await answer(socket)).toMatch(/^HTTP\/1\.1 400 /)
  })

  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '::1',
    '::ffff:127.0.0.1',
    'fd00::1',
    '100.64.1.1',
    '224.0.0.1',
  ])('[SBX16] an allowed name that leads to %s is refused', async (address) => {
    await using proxy = await openProxy({ addresses: ['93.184.216.34', address], mayConnect: () => true })
    const socket = await dial(proxy.socketPath, 'CONNECT public.test:443 HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await answer(socket)).toMatch(/^HTTP\/1\.1 403 [\s\S]*not public/)
  })

  it('[SBX16] a name without an address is an error of the gateway', async () => {
    await using proxy = await openProxy({ addresses: [] })
    const socket = await dial(proxy.socketPath, 'CONNECT public.test:443 HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await answer(socket)).toMatch(/^HTTP\/1\.1 502 /)
  })

  it('[SBX15] takes so many connections at once and no more', async () => {
    await using proxy = await openProxy()
    const sockets = await Promise.all(
      Array.from({ length: egressLimits.connections }, async () => {
        const socket = await dial(
          proxy.socketPath,
          `CONNECT inside.test:${portOf(echo)} HTTP/1.1\r\nHost: x\r\n\r\n`,
        )
        expect(await answer(socket, headerEnd)).toMatch(/ 200 /)
        return socket
      }),
    )
    const one = await dial(
      proxy.socketPath,
      `CONNECT inside.test:${portOf(echo)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    )
    expect(await answer(one, headerEnd)).toBe('')
    for (const socket of sockets) socket.destroy()
  })

  it('[SBX13] takes the place of a socket a crash has left, and leaves none', async () => {
    const socketPath = join(directory, 'stale.sock')
    writeFileSync(socketPath, '')
    const proxy = await createEgress({ logger })({ socketPath, allow: [], workspaceId: 'ws_test' })
    expect(statSync(socketPath).isSocket()).toBe(true)
    expect(statSync(socketPath).mode & 0o777).toBe(0o600)
    await proxy[Symbol.asyncDispose]()
    expect(existsSync(socketPath)).toBe(false)
  })
})
