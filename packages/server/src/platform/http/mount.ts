import type { Body, Data, EndpointShape, Params, Query, StreamEvent } from '@atelier/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../base/app-error.ts'
import type { Principal } from '../identity/principal.ts'
import { success } from './envelope.ts'
import { type ServerSentEvent, writeEventStream } from './event-stream.ts'
import type { HttpServer } from './http-server.ts'
import { statusOf } from './to-app-error.ts'
import { validate } from './validate.ts'

/** What a handler gets: everything validated, and who asks. */
export interface Call<E extends EndpointShape> {
  /** `null` on public endpoints only */
  principal: E['access'] extends 'public' ? null : Principal
  params: Params<E>
  query: Query<E>
  body: Body<E>
  requestId: string
  /** aborts when the client has gone */
  signal: AbortSignal
  /** for routes that need headers or the raw stream */
  request: FastifyRequest
  setHeader(name: string, value: string | string[]): void
}

type Handler<E extends EndpointShape, Result> = (call: Call<E>) => Result | Promise<Result>

/** Mounts an endpoint that answers in the envelope. */
export function mount<const E extends EndpointShape>(
  http: HttpServer,
  endpoint: E,
  handler: Handler<E, Data<E>>,
): void {
  route(http, endpoint, async (call, reply) => {
    const data = await handler(call)
    if (http.options.validateAnswers) assertAnswer(endpoint, data)
    reply.status(endpoint.status ?? 200)
    return success(data, endpoint.message, call.requestId)
  })
}

/** Mounts an endpoint that answers with server-sent events; the handler may still fail with a status before the first. */
export function mountEvents<const E extends EndpointShape>(
  http: HttpServer,
  endpoint: E,
  handler: Handler<
    E,
    { headers?: Record<string, string>; events: AsyncIterable<ServerSentEvent<StreamEvent<E>>> }
  >,
): void {
  route(http, endpoint, async (call, reply) => {
    const { principal } = http.stateOf(call.request)
    if (principal) http.admitEventStream(principal, reply.raw)
    const { headers, events } = await handler(call)
    reply.hijack()
    await writeEventStream(reply.raw, {
      headers: { ...reply.getHeaders(), ...headers },
      events,
      onFailure: (error) => logStreamFailure(http, call.requestId, error),
    })
    return reply
  })
}

/** A stream that failed after its first byte has a status of 200: only the log and its last event tell. */
export function logStreamFailure(http: HttpServer, requestId: string, error: AppError): void {
  if (statusOf(error) < 500) return
  http.options.logger.error({ requestId, err: error, cause: error.cause }, error.message)
}

/** Mounts an endpoint whose answer speaks another format (bytes, documents): the handler writes the reply. */
export function mountRaw<const E extends EndpointShape>(
  http: HttpServer,
  endpoint: E,
  handler: (call: Call<E>, reply: FastifyReply) => unknown,
): void {
  route(http, endpoint, async (call, reply) => {
    await handler(call, reply)
    return reply
  })
}

function route<E extends EndpointShape>(
  http: HttpServer,
  endpoint: E,
  run: (call: Call<E>, reply: FastifyReply) => Promise<unknown>,
): void {
  const key = `${endpoint.method} ${endpoint.path}`
  if (http.mounted.has(key)) throw new Error(`${key} is mounted twice`)
  http.mounted.set(key, endpoint)
  http.app.route({
    method: endpoint.method,
    url: endpoint.path,
    config: { endpoint },
    // Where there may be a form, the limit is the form's, which is enforced where it is read.
    ...(endpoint.maxBodyBytes === undefined || endpoint.multipart
      ? {}
      : { bodyLimit: endpoint.maxBodyBytes }),
    handler: (request, reply) => run(callOf(http, endpoint, request, reply), reply),
  })
}

function callOf<E extends EndpointShape>(
  http: HttpServer,
  endpoint: E,
  request: FastifyRequest,
  reply: FastifyReply,
): Call<E> {
  const { principal, signal } = http.stateOf(request)
  const json = endpoint.body !== undefined && !(endpoint.multipart && request.isMultipart())
  if (json && request.body === undefined) {
    throw new AppError('INVALID_REQUEST', 'A JSON body is required')
  }
  const parts = {
    params: endpoint.params && validate(endpoint.params, request.params),
    query: endpoint.query && validate(endpoint.query, request.query),
    body: json && endpoint.body ? validate(endpoint.body, request.body) : undefined,
  }
  // The schemas of `endpoint` have just been applied; TypeScript cannot follow that through the generic.
  return {
    principal,
    ...parts,
    requestId: request.id,
    signal,
    request,
    setHeader: (name: string, value: string | string[]) => void reply.header(name, value),
  } as Call<E>
}

function assertAnswer(endpoint: EndpointShape, data: unknown): void {
  const result = endpoint.data?.safeParse(data)
  if (result && !result.success) {
    throw new Error(`${endpoint.name} answers what its contract does not allow: ${result.error.message}`)
  }
}
