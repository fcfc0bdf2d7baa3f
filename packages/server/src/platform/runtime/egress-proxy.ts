import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createPublicAddressCheck } from './address-class.ts'
import { createEgressPolicy } from './egress-policy.ts'
import type { RuntimeLogger } from './session-runtime.ts'

export interface EgressOptions {
  /** UNIX socket to listen on; whatever is there is removed */
  socketPath: string
  /** host names, as createEgressPolicy takes them */
  allow: readonly string[]
  workspaceId: string
}

export type OpenEgress = (options: EgressOptions) => Promise<AsyncDisposable>

export interface EgressDeps {
  logger: RuntimeLogger
  /** addresses of a name; the system's resolver unless given */
  resolve?: (host: string) => Promise<string[]>
  /** true for addresses that may be connected to; those of the public internet unless given */
  mayConnect?: (address: string) => boolean
}

export const egressLimits = {
  /** connections of one workspace at once */
  connections: 64,
  /** milliseconds to resolve and connect */
  connectMs: 10_000,
  /** milliseconds without a byte in either direction */
  idleMs: 120_000,
} as const

/** Refused, with the status the program inside gets to see. */
class Refusal extends Error {
  override name = 'Refusal'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * An HTTP proxy for one workspace: CONNECT and plain HTTP, to allowed names only. It resolves the name itself, refuses
 * it if any of its addresses is not public, and connects to the address it has checked, so a name that changes its
 * mind between check and connection gains nothing.
 */
export function createEgress(deps: EgressDeps): OpenEgress {
  const resolve = deps.resolve ?? resolveAll
  const mayConnect = deps.mayConnect ?? createPublicAddressCheck()

  return async ({ socketPath, allow, workspaceId }) => {
    const decide = createEgressPolicy(allow)
    const sockets = new Set<Duplex>()
    const server = createServer({ maxHeaderSize: 16 * 1024, headersTimeout: 20_000 })
    server.maxConnections = egressLimits.connections

    async function open(host: string, port: number): Promise<Socket> {
      const verdict = decide(host, port)
      if (!verdict.allowed) throw new Refusal(403, verdict.reason)
      const address = await pick(verdict.host)
      const socket = await connectTo(address, verdict.port)
      track(sockets, socket)
      return socket
    }

    async function pick(host: string): Promise<string> {
      const addresses = await resolve(host).catch(() => [])
      const first = addresses[0]
      if (first === undefined) throw new Refusal(502, `${host} has no address`)
      if (!addresses.every(mayConnect))
        throw new Refusal(403, `${host} leads to an address that is not public`)
      return first
    }

    function refuse(error: unknown, host: string): { status: number; message: string } {
      const refusal = error instanceof Refusal ? error : new Refusal(502, 'the host cannot be reached')
      deps.logger.warn({ workspaceId, host, reason: refusal.message }, 'egress refused')
      return refusal
    }

    server.on('connection', (socket) => track(sockets, socket))
    server.on('connect', (incoming: IncomingMessage, inside: Duplex, head: Buffer) => {
      const { host, port } = splitAuthority(incoming.url ?? '')
      open(host, port).then(
        (outside) => {
          inside.write('HTTP/1.1 200 Connection established\r\n\r\n')
          if (head.length > 0) outside.write(head)
          join(inside, outside)
        },
        (error: unknown) => {
          const { status, message } = refuse(error, host)
          inside.end(
            `HTTP/1.1 ${status} ${phrase(status)}\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${message}\n`,
          )
        },
      )
    })
    server.on('request', (incoming, outgoing) => {
      const url = URL.parse(incoming.url ?? '')
      const host = url?.hostname ?? ''
      const reached =
        url?.protocol === 'http:'
          ? open(host, Number(url.port || 80))
          : Promise.reject(new Refusal(400, 'not a proxy request'))
      reached.then(
        (outside) => forward(incoming, outgoing, { outside, url: url as URL }),
        (error: unknown) => {
          const { status, message } = refuse(error, host)
          outgoing.writeHead(status, { 'content-type': 'text/plain' }).end(`${message}\n`)
        },
      )
    })

    await rm(socketPath, { force: true })
    server.listen(socketPath)
    await once(server, 'listening')
    await chmod(socketPath, 0o600)
    return {
      async [Symbol.asyncDispose]() {
        for (const socket of sockets) socket.destroy()
        server.closeAllConnections()
        await new Promise((done) => server.close(done))
        await rm(socketPath, { force: true })
      },
    }
  }
}

async function resolveAll(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}

function connectTo(address: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, allowHalfOpen: true })
    const fail = () => {
      socket.destroy()
      reject(new Refusal(502, 'the host does not answer'))
    }
    socket.setTimeout(egressLimits.connectMs, fail)
    socket.once('error', fail)
    socket.once('connect', () => {
      socket.off('error', fail).off('timeout', fail)
      resolve(socket)
    })
  })
}

/** Two ends become one connection: what ends or breaks on one side does so on the other. */
function join(inside: Duplex, outside: Socket): void {
  outside.setTimeout(egressLimits.idleMs, () => outside.destroy())
  inside.on('error', () => outside.destroy())
  outside.on('error', () => inside.destroy())
  inside.once('close', () => outside.destroySoon())
  outside.once('close', () => inside.destroy())
  inside.pipe(outside)
  outside.pipe(inside)
}

/** Headers that concern one hop only, RFC 9110 section 7.6.1, and those meant for a proxy. */
const hopHeaders = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['proxy-authorization', 'proxy-authenticate', 'host'],
])

function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { outside, url }: { outside: Socket; url: URL },
): void {
  outside.setTimeout(egressLimits.idleMs, () => outside.destroy())
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).filter(([name]) => !hopHeaders.has(name)),
  )
  const upstream = request({
    createConnection: () => outside,
    method: incoming.method,
    path: url.pathname + url.search,
    headers: { ...headers, host: url.host },
  })
  upstream.once('response', (answer) => {
    const kept = Object.entries(answer.headers).filter(([name]) => !hopHeaders.has(name))
    outgoing.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept))
    answer.pipe(outgoing)
    answer.once('error', () => outgoing.destroy())
  })
  upstream.once('error', () => outgoing.destroy())
  outgoing.once('close', () => upstream.destroy())
  incoming.pipe(upstream)
}

/** `host:port` of a CONNECT request; an address in brackets never matches an allowed name. */
function splitAuthority(authority: string): { host: string; port: number } {
  const colon = authority.lastIndexOf(':')
  return { host: authority.slice(0, Math.max(0, colon)), port: Number(authority.slice(colon + 1)) }
}

function phrase(status: number): string {
  return status === 403 ? 'Forbidden' : 'Bad Gateway'
}

function track(sockets: Set<Duplex>, socket: Duplex): void {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}
