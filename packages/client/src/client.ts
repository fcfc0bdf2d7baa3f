import type { CallInput, Data, EndpointShape, StreamEvent } from '@atelier/contract'
import { ApiError, failureOf, parseJson } from './api-error.ts'
import { type BuiltRequest, buildRequest, type RequestParts } from './build-request.ts'
import { readEventStream } from './event-stream.ts'
import { browserRequestClass, type PlainAnswer, sendWithProgress, type UploadProgress } from './upload.ts'

export interface ClientOptions {
  /** where the server is, without a path; empty: the page's own origin */
  baseUrl: string
  /** sent with every request, e.g. `authorization`; a function is asked each time */
  headers?: Record<string, string> | (() => Record<string, string>)
  fetch?: typeof globalThis.fetch
  /** check every answer and event against the contract's schema and throw `BAD_ANSWER` where it does not fit; for tests */
  validateAnswers?: boolean
}

export interface CallOptions {
  signal?: AbortSignal | undefined
  headers?: Record<string, string>
}

export interface UploadOptions extends CallOptions {
  /** told in browsers only: elsewhere nothing reports what has been sent */
  onUploadProgress?: (progress: UploadProgress) => void
}

/** One event of a stream, read from JSON. */
export interface ClientEvent<Event> {
  event: Event
  /** to resume with */
  lastEventId: string
}

export interface EventStream<Event> {
  headers: Headers
  /** ends when the server ends it; leaving the loop closes the connection */
  events: AsyncIterable<ClientEvent<Event>>
}

/** The input, which may be left out where no part of it is needed, and the options. */
export type Arguments<E extends EndpointShape, Options> =
  Record<never, never> extends CallInput<E>
    ? [input?: CallInput<E>, options?: Options]
    : [input: CallInput<E>, options?: Options]

export interface Client {
  /** Calls an endpoint and returns the `data` of its envelope. Throws ApiError; an aborted call rejects with the signal's reason. */
  call<E extends EndpointShape>(endpoint: E, ...rest: Arguments<E, UploadOptions>): Promise<Data<E>>
  /** Opens an event stream. Throws ApiError when the server refuses it; the iteration throws ApiError when it breaks. */
  stream<E extends EndpointShape>(
    endpoint: E,
    ...rest: Arguments<E, CallOptions>
  ): Promise<EventStream<StreamEvent<E>>>
  /** The answer of an endpoint outside the envelope (bytes, documents), its status already checked. */
  raw<E extends EndpointShape>(endpoint: E, ...rest: Arguments<E, CallOptions>): Promise<Response>
}

/** A typed client of every endpoint in the contract, for browsers and Node. */
export function createClient(options: ClientOptions): Client {
  const send = options.fetch ?? ((input, init) => globalThis.fetch(input, init))

  function build(endpoint: EndpointShape, input: unknown, headers?: Record<string, string>): BuiltRequest {
    const request = buildRequest(options.baseUrl, endpoint, (input ?? {}) as RequestParts)
    const common = typeof options.headers === 'function' ? options.headers() : options.headers
    return { ...request, headers: { ...request.headers, ...common, ...headers } }
  }

  async function answerOf(request: BuiltRequest, signal: AbortSignal | undefined): Promise<Response> {
    const { url, ...init } = request
    return reaching(signal, () => send(url, { ...init, body: init.body ?? null, signal: signal ?? null }))
  }

  async function opened(endpoint: EndpointShape, input: unknown, callOptions: CallOptions, accept?: string) {
    const headers = { ...(accept === undefined ? {} : { accept }), ...callOptions.headers }
    const response = await answerOf(build(endpoint, input, headers), callOptions.signal)
    if (response.ok) return response
    const text = await reaching(callOptions.signal, () => response.text())
    throw failureOf(response.status, response.headers, text)
  }

  async function exchange(
    request: BuiltRequest,
    { signal, onUploadProgress }: UploadOptions,
  ): Promise<PlainAnswer> {
    const BrowserRequest = onUploadProgress === undefined ? undefined : browserRequestClass()
    if (onUploadProgress !== undefined && BrowserRequest !== undefined) {
      return reaching(signal, () => sendWithProgress(BrowserRequest, request, onUploadProgress, signal))
    }
    const response = await answerOf(request, signal)
    const text = await reaching(signal, () => response.text())
    return { status: response.status, headers: response.headers, text }
  }

  return {
    async call(endpoint, input?, callOptions: UploadOptions = {}) {
      const answer = await exchange(build(endpoint, input, callOptions.headers), callOptions)
      return dataOf(endpoint, answer, options.validateAnswers === true)
    },
    async stream(endpoint, input?, callOptions: CallOptions = {}) {
      const response = await opened(endpoint, input, callOptions, 'text/event-stream')
      const { body, headers } = response
      if (body === null || !headers.get('content-type')?.startsWith('text/event-stream')) {
        await body?.cancel()
        throw badAnswer(response.status, headers, 'The server did not answer with an event stream')
      }
      return {
        headers,
        events: typedEvents(endpoint, { body, headers, signal: callOptions.signal }, options),
      }
    },
    raw: (endpoint, input?, callOptions: CallOptions = {}) => opened(endpoint, input, callOptions),
  }
}

function dataOf<E extends EndpointShape>(endpoint: E, answer: PlainAnswer, validate: boolean): Data<E> {
  const { status, headers, text } = answer
  if (status < 200 || status > 299) throw failureOf(status, headers, text)
  const envelope = parseJson(text)
  if (typeof envelope !== 'object' || envelope === null || !('data' in envelope)) {
    throw badAnswer(status, headers, 'The server answered with something this page cannot read')
  }
  const data = validate ? checked(endpoint.data, envelope.data, headers) : envelope.data
  // The server validates in its tests what the contract promises; here the type is that promise.
  return data as Data<E>
}

async function* typedEvents<Event>(
  endpoint: EndpointShape,
  source: { body: ReadableStream<Uint8Array>; headers: Headers; signal: AbortSignal | undefined },
  options: ClientOptions,
): AsyncGenerator<ClientEvent<Event>> {
  const { headers, signal } = source
  try {
    for await (const { data, lastEventId } of readEventStream(source.body)) {
      const value = parseJson(data)
      if (value === undefined) throw badAnswer(200, headers, 'The server sent an event this page cannot read')
      const event = options.validateAnswers === true ? checked(endpoint.events, value, headers) : value
      yield { event: event as Event, lastEventId }
    }
  } catch (error) {
    throw asClientError(error, signal, headers.get('x-request-id') ?? undefined)
  }
}

function checked(schema: EndpointShape['data'], value: unknown, headers: Headers): unknown {
  if (schema === undefined) return value
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw badAnswer(200, headers, `The answer does not fit the contract: ${result.error.message}`)
}

function badAnswer(status: number, headers: Headers, message: string): ApiError {
  return new ApiError({
    code: 'BAD_ANSWER',
    status,
    message,
    requestId: headers.get('x-request-id') ?? undefined,
  })
}

async function reaching<Result>(
  signal: AbortSignal | undefined,
  action: () => Promise<Result>,
): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    throw asClientError(error, signal, undefined)
  }
}

/** An abort stays the caller's own reason; a failure of the connection becomes `NETWORK_ERROR`. */
function asClientError(
  error: unknown,
  signal: AbortSignal | undefined,
  requestId: string | undefined,
): unknown {
  if (error instanceof ApiError) return error
  if (signal?.aborted === true) return signal.reason
  const message = 'The connection to the server was lost or could not be made'
  return new ApiError({ code: 'NETWORK_ERROR', status: 0, message, requestId, cause: error })
}
