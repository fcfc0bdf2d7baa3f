import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { EndpointShape, RateClass } from '@atelier/contract'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { AppError } from '../../base/app-error.ts'
import type { Clock } from '../../base/clock.ts'
import type { Principal } from '../identity/principal.ts'
import { limitAddress } from './caller-address.ts'
import { answerClientError, createOpenAnswers } from './client-error.ts'
import { failure } from './envelope.ts'
import { createMultipartStaging, type MultipartStaging } from './multipart.ts'
import { openAiFailure, speaksOpenAi } from './openai-failure.ts'
import { createOriginPolicy, type OriginPolicy } from './origin.ts'
import { createRateLimiter, type RateDecision } from './rate-limiter.ts'
import { createRequestIds } from './request-id.ts'
import { securityHeaders } from './security-headers.ts'
import { createStreamWatch } from './stream-watch.ts'
import { statusOf, toAppError } from './to-app-error.ts'

/** Bytes of a JSON body where the endpoint names no limit. */
export const defaultBodyBytes = 1024 * 1024

/** How long a request may take to arrive whole; a slow upload of 100 MB needs minutes. */
const requestTimeoutMilliseconds = 10 * 60_000

/** How long headers may take to arrive: bounds slow-header attacks. */
const headersTimeoutMilliseconds = 30_000

/** How long an idle connection is kept: longer than proxies before us keep theirs. */
const keepAliveMilliseconds = 72_000

/** How long requests in flight may go on after the server was told to stop. */
const closeGraceMilliseconds = 8_000

/** Finds out who makes a request. `null`: no credential. Throws UNAUTHORIZED for a bad one. */
export type Authenticate = (raw: IncomingMessage) => Promise<Principal | null>

export interface HttpOptions {
  baseUrl: string | undefined
  host: string
  trustProxy: string[] | false
  rateLimits: Readonly<Record<RateClass, number>>
  stagingDirectory: string
  /** where previews are, as a source of a Content-Security-Policy */
  frameSource?: string
  authenticate: Authenticate
  /** whether the credential behind an open stream still holds */
  stillValid(principal: Principal): Promise<boolean>
  logger: Logger
  clock: Clock
  /** check every answer against its schema: for tests and development */
  validateAnswers: boolean
}

export interface RequestState {
  principal: Principal | null
  /** aborts when the client has gone, or the grace after a stop has passed */
  signal: AbortSignal
}

export type RequestForwarder = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** What features mount their endpoints on. Only `platform/http` and `*-routes.ts` know Fastify. */
export interface HttpServer extends AsyncDisposable {
  readonly app: FastifyInstance
  readonly options: HttpOptions
  readonly origins: OriginPolicy
  readonly multipart: MultipartStaging
  /** aborts as soon as the server is told to stop: streams without an end of their own end then */
  readonly closing: AbortSignal
  stateOf(request: FastifyRequest): RequestState
  /** Counts an event stream until it closes. Throws RATE_LIMITED where its user has too many. */
  admitEventStream(principal: Principal, response: ServerResponse): void
  /** Requests that `matches` accepts go to `handler` whole, before any check of ours; it answers and never rejects. */
  forward(matches: (request: IncomingMessage) => boolean, handler: RequestForwarder): void
  /** endpoints mounted so far, by `METHOD path` */
  readonly mounted: Map<string, EndpointShape>
}

export function createHttpServer(options: HttpOptions): HttpServer {
  const states = new WeakMap<FastifyRequest, RequestState>()
  const commonHeaders = securityHeaders(options.frameSource)
  const origins = createOriginPolicy(options)
  const limiter = createRateLimiter({ limits: options.rateLimits, clock: options.clock })
  const streams = createStreamWatch(options)
  const answers = createOpenAnswers()
  const closing = new AbortController()
  const open = new Set<AbortController>()
  const mounted = new Map<string, EndpointShape>()
  const forwarders: { matches(request: IncomingMessage): boolean; handler: RequestForwarder }[] = []
  const app = fastify({
    genReqId: createRequestIds(options.trustProxy),
    trustProxy: options.trustProxy,
    bodyLimit: defaultBodyBytes,
    serverFactory: (handler) =>
      createServer(
        {
          headersTimeout: headersTimeoutMilliseconds,
          requestTimeout: requestTimeoutMilliseconds,
          keepAliveTimeout: keepAliveMilliseconds,
          // Any other upgrade (HTTP clients offer h2c by themselves) is an ordinary request.
          shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
        },
        (request, response) => {
          answers.add(response)
          const forwarder = forwarders.find(({ matches }) => matches(request))
          if (forwarder) void forwarder.handler(request, response)
          else handler(request, response)
        },
      ),
    logger: false,
    clientErrorHandler: (error, socket) =>
      answerClientError(
        error,
        socket,
        answers,
        limitHeaders(limiter.consume('standard', callerAt(socket.remoteAddress ?? ''))),
      ),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      applyCommonHeaders(request, reply, commonHeaders)
      applyDecision(reply, countRequest(request, null))
      sendFailure(request, reply, error)
    },
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 500 },
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    app.getDefaultJsonParser('error', 'error'),
  )

  function countRequest(request: FastifyRequest, principal: Principal | null): RateDecision {
    const caller = principal ? `user ${principal.userId}` : callerAt(request.ip)
    return limiter.consume(rateClassOf(request), caller)
  }

  app.addHook('onRequest', async (request, reply) => {
    applyCommonHeaders(request, reply, commonHeaders)
    const identified = await identify(request)
    const principal = identified instanceof AppError ? null : identified
    const decision = countRequest(request, principal)
    applyDecision(reply, decision)
    if (!decision.allowed) throw rateLimited(decision)
    if (identified instanceof AppError) throw identified
    origins.checkHost(request.headers.host)
    checkAccess(request, principal)
    checkOrigin(request, principal)
    states.set(request, { principal, signal: signalOf(reply, open) })
    if (principal) streams.add(principal, reply.raw)
  })

  async function identify(request: FastifyRequest): Promise<Principal | null | AppError> {
    const endpoint = endpointOf(request)
    if (!endpoint || endpoint.access === 'public') return null
    try {
      return await options.authenticate(request.raw)
    } catch (error) {
      return toAppError(error)
    }
  }

  function checkOrigin(request: FastifyRequest, principal: Principal | null): void {
    if (request.method === 'GET' || request.method === 'HEAD') return
    origins.checkOrigin(request.headers, { required: principal?.kind === 'cookie' })
  }

  function sendFailure(request: FastifyRequest, reply: FastifyReply, unknownError: unknown): void {
    const error = toAppError(unknownError)
    const status = statusOf(error)
    if (status >= 500) {
      options.logger.error({ requestId: request.id, err: error, cause: error.cause }, error.message)
    }
    // A body that was not read to its end would be taken for the next request.
    if (status === 413) reply.header('connection', 'close')
    const wait = error.details?.retryAfterSeconds
    if (typeof wait === 'number') reply.header('retry-after', String(wait))
    reply.status(status).header('content-type', 'application/json; charset=utf-8')
    reply.send(JSON.stringify(speaksOpenAi(request.url) ? openAiFailure(error) : failure(error, request.id)))
  }

  app.setErrorHandler((error, request, reply) => sendFailure(request, reply, error))
  app.setNotFoundHandler((request, reply) =>
    sendFailure(request, reply, missingRoute(request, reply, mounted)),
  )
  app.addHook('onResponse', async (request, reply) => {
    options.logger.info(
      {
        requestId: request.id,
        method: request.method,
        // The route, not the URL: a query may hold a secret.
        route: request.routeOptions.url ?? 'unknown',
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 10) / 10,
        userId: states.get(request)?.principal?.userId,
      },
      'request',
    )
  })

  return {
    app,
    options,
    origins,
    mounted,
    admitEventStream: streams.admit,
    forward: (matches, handler) => void forwarders.push({ matches, handler }),
    multipart: createMultipartStaging(app, options.stagingDirectory),
    closing: closing.signal,
    stateOf(request) {
      const state = states.get(request)
      if (!state) throw new Error('a request without state reached a handler')
      return state
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      const grace = setTimeout(() => {
        for (const request of open) request.abort()
        app.server.closeAllConnections()
      }, closeGraceMilliseconds)
      await app.close()
      clearTimeout(grace)
      streams[Symbol.dispose]()
    },
  }
}

/** The endpoint that a route was mounted for; `undefined` on unknown and static routes. */
export function endpointOf(request: FastifyRequest): EndpointShape | undefined {
  return (request.routeOptions.config as { endpoint?: EndpointShape } | undefined)?.endpoint
}

function rateClassOf(request: FastifyRequest): RateClass {
  const endpoint = endpointOf(request)
  if (endpoint) return endpoint.rate
  return isApiPath(request.url) ? 'standard' : 'static'
}

export function isApiPath(url: string): boolean {
  return /^\/(api|v1)(\/|\?|$)/.test(url)
}

function applyCommonHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  headers: ReturnType<typeof securityHeaders>,
): void {
  reply.header('x-request-id', request.id)
  for (const [name, value] of headers) reply.header(name, value)
}

function applyDecision(reply: FastifyReply, decision: RateDecision): void {
  reply.headers(limitHeaders(decision))
}

function limitHeaders(decision: RateDecision): Record<string, string | number> {
  const { rateClass, limit, remaining, resetSeconds, allowed } = decision
  return {
    'ratelimit-policy': `"${rateClass}";q=${limit};w=60`,
    ratelimit: `"${rateClass}";r=${remaining};t=${resetSeconds}`,
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': Math.ceil(Date.now() / 1000) + resetSeconds,
    ...(allowed ? {} : { 'retry-after': resetSeconds }),
  }
}

/** Whom a request without a known user is counted for. */
function callerAt(ip: string): string {
  return `address ${limitAddress(ip)}`
}

function rateLimited(decision: RateDecision): AppError {
  const { rateClass, limit, resetSeconds } = decision
  return new AppError(
    'RATE_LIMITED',
    `More than ${limit} ${rateClass} requests in a minute; try again in ${resetSeconds} s`,
    {
      details: { retryAfterSeconds: resetSeconds },
    },
  )
}

function checkAccess(request: FastifyRequest, principal: Principal | null): void {
  const endpoint = endpointOf(request)
  if (!endpoint || endpoint.access === 'public') return
  if (!principal) throw new AppError('UNAUTHORIZED', 'Sign in, or send a Bearer token or an x-api-key')
  const { access, scope } = endpoint
  if (principal.kind === 'api-key') {
    if (access !== 'user') throw new AppError('FORBIDDEN', 'An API key cannot be used here; sign in')
    if (scope !== 'any' && !principal.scopes.some((held) => held === scope)) {
      throw new AppError('FORBIDDEN', `The API key does not have the scope ${scope}`)
    }
    return
  }
  if (access === 'cookie' && principal.kind !== 'cookie') {
    throw new AppError('FORBIDDEN', 'Only the signed-in browser session can do this')
  }
  if (access === 'admin' && !principal.admin)
    throw new AppError('FORBIDDEN', 'Only an administrator can do this')
}

/** Aborts when the caller leaves. `AbortSignal.any` with the server's own would outlive its request: Node keeps those. */
function signalOf(reply: FastifyReply, open: Set<AbortController>): AbortSignal {
  const gone = new AbortController()
  // Who has left while the credential was looked up has no end any more that could be heard.
  if (reply.raw.destroyed) {
    gone.abort()
    return gone.signal
  }
  open.add(gone)
  reply.raw.once('close', () => {
    open.delete(gone)
    if (!reply.raw.writableFinished) gone.abort()
  })
  return gone.signal
}

function missingRoute(
  request: FastifyRequest,
  reply: FastifyReply,
  mounted: Map<string, EndpointShape>,
): AppError {
  const path = request.url.split('?')[0] as string
  const methods = [...mounted.values()]
    .filter((endpoint) => pathPattern(endpoint.path).test(path))
    .map(({ method }) => method)
  if (methods.length === 0) return new AppError('NOT_FOUND', 'There is nothing at this path')
  reply.header('allow', [...new Set(methods)].join(', '))
  return new AppError('METHOD_NOT_ALLOWED', `${request.method} is not possible here`)
}

function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/:[A-Za-z]+/g, '[^/]+').replaceAll('.', '\\.')}$`)
}
