import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type SocketShape, socketCloseCodes } from '@atelier/contract'
import type { Logger } from 'pino'
import { type WebSocket, WebSocketServer } from 'ws'
import type { z } from 'zod'
import { AppError } from '../../base/app-error.ts'
import { newId } from '../../base/ids.ts'
import type { Principal } from '../identity/principal.ts'
import { failure } from './envelope.ts'
import type { Authenticate } from './http-server.ts'
import type { OriginPolicy } from './origin.ts'
import { createSocketWatch, type SocketWatch, type SocketWatchOptions } from './socket-watch.ts'
import { statusOf, toAppError } from './to-app-error.ts'
import { validate } from './validate.ts'

/** Most open sockets of one user: tabs, terminals and documents of a busy day. */
export const maxSocketsPerUser = 200

/** Upgrades that wait for their credential at a time, of everybody together. */
const maxPendingUpgrades = 256

/** How long a peer may take to answer our close before the connection is cut. */
const closeGraceMilliseconds = 2_000

/** Bytes a close frame has for its reason, RFC 6455. */
const maxReasonBytes = 123

export interface SocketCall<S extends SocketShape> {
  principal: Principal
  query: z.output<S['query']>
  socket: WebSocket
  requestId: string
  /** Asks again every few seconds; the socket is closed once the answer is false. */
  keepWhile(allowed: () => Promise<boolean>): void
}

/** A path prefix whose upgrades are not ours to speak: the handler forwards the bytes. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>

export interface Sockets extends AsyncDisposable {
  /** What the handler throws closes the socket with a code of its kind. */
  mount<const S extends SocketShape>(shape: S, handler: (call: SocketCall<S>) => void | Promise<void>): void
  /** Upgrades that `matches` accepts go to `handler` whole, before any check of ours. */
  forward(matches: (request: IncomingMessage) => boolean, handler: UpgradeHandler): void
  /** The listener of the HTTP server's `upgrade` event. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** names of the sockets mounted so far */
  readonly mounted: ReadonlySet<string>
}

export interface SocketOptions extends SocketWatchOptions {
  authenticate: Authenticate
  /** Takes a single-use ticket; `null` where there is no such ticket any more. */
  redeemTicket(ticket: string): Principal | null
  origins: OriginPolicy
  logger: Logger
}

type Accept = (request: IncomingMessage, socket: Duplex, head: Buffer, url: URL) => Promise<void>

export function createSockets(options: SocketOptions): Sockets {
  const paths = new Map<string, Accept>()
  const names = new Set<string>()
  const forwarders: { matches(request: IncomingMessage): boolean; handler: UpgradeHandler }[] = []
  const watch = createSocketWatch(options)
  let pending = 0
  let stopping = false

  async function accept(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    if (stopping) throw new AppError('SERVICE_UNAVAILABLE', 'The server is stopping')
    const forwarder = forwarders.find(({ matches }) => matches(request))
    if (forwarder) return forwarder.handler(request, stream, head)
    options.origins.checkHost(request.headers.host)
    const url = new URL(request.url ?? '/', 'http://socket')
    const handler = paths.get(url.pathname)
    if (!handler) throw new AppError('NOT_FOUND', 'There is no socket at this path')
    if (pending >= maxPendingUpgrades)
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many sockets are being opened; try again')
    pending += 1
    try {
      await handler(request, stream, head, url)
    } finally {
      pending -= 1
    }
  }

  return {
    mounted: names,
    mount(shape, handler) {
      const server = new WebSocketServer({
        noServer: true,
        maxPayload: shape.maxMessageBytes,
        clientTracking: false,
      })
      names.add(shape.name)
      paths.set(shape.path, async (request, stream, head, url) => {
        const principal = await identify(options, request, url)
        admit(principal, shape, watch)
        const query = validate(shape.query, queryOf(url))
        const requestId = newId('request')
        if (stopping) throw new AppError('SERVICE_UNAVAILABLE', 'The server is stopping')
        server.handleUpgrade(request, stream, head, (socket) => {
          watch.add(principal, socket)
          socket.on('error', (error) => options.logger.debug({ err: error, requestId }, 'socket error'))
          const keepWhile = (allowed: () => Promise<boolean>) => watch.keepWhile(socket, allowed)
          // A message that comes before the handler listens would be lost.
          socket.pause()
          Promise.resolve()
            .then(() =>
              handler({ principal, query, socket, requestId, keepWhile } as SocketCall<typeof shape>),
            )
            .catch((error: unknown) => closeWith(socket, error, { requestId, logger: options.logger }))
            .finally(() => socket.resume())
        })
      })
    },
    forward(matches, handler) {
      forwarders.push({ matches, handler })
    },
    upgrade(request, stream, head) {
      stream.on('error', (error) => options.logger.debug({ err: error }, 'upgrade error'))
      accept(request, stream, head).catch((error: unknown) => refuseUpgrade(stream, error, options.logger))
    },
    async [Symbol.asyncDispose]() {
      stopping = true
      watch[Symbol.dispose]()
      const open = watch.all()
      for (const socket of open) socket.close(socketCloseCodes.goingAway, 'the server is stopping')
      await allClosed(open)
    },
  }
}

async function identify(options: SocketOptions, request: IncomingMessage, url: URL): Promise<Principal> {
  const ticket = url.searchParams.get('ticket')
  const principal = ticket === null ? await options.authenticate(request) : await redeem(options, ticket)
  if (!principal)
    throw new AppError('UNAUTHORIZED', 'Sign in, or send a ticket, a Bearer token or an x-api-key')
  options.origins.checkOrigin(request.headers, { required: principal.kind === 'cookie' && ticket === null })
  return principal
}

/** What a ticket was made with may have ended since. */
async function redeem(options: SocketOptions, ticket: string): Promise<Principal | null> {
  const principal = options.redeemTicket(ticket)
  return principal && (await options.stillValid(principal)) ? principal : null
}

function admit(principal: Principal, shape: SocketShape, watch: SocketWatch): void {
  if (principal.kind === 'api-key' && !principal.scopes.includes(shape.scope))
    throw new AppError('FORBIDDEN', `The API key does not have the scope ${shape.scope}`)
  if (watch.count(principal.userId) >= maxSocketsPerUser)
    throw new AppError('RATE_LIMITED', `More than ${maxSocketsPerUser} open sockets of one user`)
}

/** Everything of the query but the ticket, which is a credential. */
function queryOf(url: URL): Record<string, string> {
  return Object.fromEntries([...url.searchParams].filter(([name]) => name !== 'ticket'))
}

/** After the upgrade, a failure is a close frame. */
function closeWith(
  socket: WebSocket,
  unknownError: unknown,
  { requestId, logger }: { requestId: string; logger: Logger },
): void {
  const error = toAppError(unknownError)
  const status = statusOf(error)
  if (status >= 500) logger.error({ requestId, err: error, cause: error.cause }, error.message)
  const reason = Buffer.from(error.message)
    .subarray(0, maxReasonBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')
  if (status >= 500) socket.close(socketCloseCodes.internalError, reason)
  else if (error.code === 'NOT_FOUND') socket.close(socketCloseCodes.gone, reason)
  else if (error.code === 'FORBIDDEN') socket.close(socketCloseCodes.forbidden, reason)
  else socket.close(socketCloseCodes.policyViolation, reason)
}

/** Before the upgrade, a failure is an ordinary HTTP answer in the envelope. */
function refuseUpgrade(stream: Duplex, unknownError: unknown, logger: Logger): void {
  const error = toAppError(unknownError)
  const requestId = newId('request')
  const status = statusOf(error)
  if (status >= 500) logger.error({ requestId, err: error, cause: error.cause }, error.message)
  const body = JSON.stringify(failure(error, requestId))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? error.code}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ]
  // Half a connection would stay open for as long as the peer likes.
  stream.once('finish', () => stream.destroy())
  stream.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

async function allClosed(open: WebSocket[]): Promise<void> {
  const cut = setTimeout(() => {
    for (const socket of open) socket.terminate()
  }, closeGraceMilliseconds)
  await Promise.all(
    open.map(
      (socket) =>
        new Promise<void>((resolve) => {
          if (socket.readyState === socket.CLOSED) resolve()
          else socket.once('close', () => resolve())
        }),
    ),
  )
  clearTimeout(cut)
}
