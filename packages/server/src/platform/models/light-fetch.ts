import type { Dispatcher } from 'undici'

/**
 * The part of `fetch` that model providers' packages use, straight on undici's `request`: half of the time of a call
 * through the whole of `fetch` goes into what no API needs, such as redirects, CORS, cookies and byte streams.
 * Bodies that are sent are texts; an answer has `ok`, `status`, `statusText`, `headers`, `body`, `text`, `json` and
 * `arrayBuffer`. Redirects are not followed: a key must not travel to another address. Nothing is decompressed, because
 * nothing compressed is asked for. Rejects with the signal's reason, or with a network error that has a `code`.
 */
export function createLightFetch(dispatcher: Dispatcher): typeof globalThis.fetch {
  async function lightFetch(input: unknown, init: RequestInit = {}): Promise<Response> {
    const url = new URL(String(input))
    const { statusCode, headers, body } = await dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: (init.method ?? 'GET') as Dispatcher.HttpMethod,
      headers: headersOf(init.headers),
      body: bodyOf(init.body),
      signal: init.signal ?? null,
    })
    return new LightResponse(statusCode, headers, body) as unknown as Response
  }
  return lightFetch
}

type Body = Dispatcher.ResponseData['body']
type IncomingHeaders = Dispatcher.ResponseData['headers']

class LightResponse {
  readonly ok: boolean
  readonly status: number
  readonly statusText = ''
  readonly #incoming: IncomingHeaders
  readonly #source: Body
  #headers: Headers | undefined
  #body: ReadableStream<Uint8Array> | undefined

  constructor(status: number, incoming: IncomingHeaders, source: Body) {
    this.ok = status >= 200 && status < 300
    this.status = status
    this.#incoming = incoming
    this.#source = source
  }

  get headers(): Headers {
    this.#headers ??= new Headers(pairsOf(this.#incoming))
    return this.#headers
  }

  get body(): ReadableStream<Uint8Array> {
    this.#body ??= isEventStream(this.#incoming) ? streamOf(this.#source) : wholeOf(this.#source)
    return this.#body
  }

  text(): Promise<string> {
    return this.#source.text()
  }

  json(): Promise<unknown> {
    return this.#source.json()
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#source.arrayBuffer()
  }
}

/** An answer that is one document: read in one go, which is cheaper, and bounded by the dispatcher's `maxResponseSize`. */
function wholeOf(source: Body): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await source.bytes()
        if (bytes.length > 0) controller.enqueue(bytes)
        controller.close()
      },
      cancel: (reason) => stop(source, reason),
    },
    { highWaterMark: 0 },
  )
}

/** Chunks as they arrive; the source pauses while nobody reads. */
function streamOf(source: Body): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      source.on('data', (chunk: Buffer) => {
        controller.enqueue(chunk)
        if ((controller.desiredSize ?? 0) <= 0) source.pause()
      })
      source.on('end', () => controller.close())
      source.on('error', (error) => controller.error(error))
      source.on('close', () => {
        if (!source.readableEnded && source.errored === null)
          controller.error(new Error('the stream was closed'))
      })
    },
    pull: () => void source.resume(),
    cancel: (reason) => stop(source, reason),
  })
}

function stop(source: Body, reason: unknown): void {
  // A stream that is destroyed with an error emits it; whoever cancels has it already.
  source.on('error', () => undefined)
  source.destroy(reason instanceof Error ? reason : undefined)
}

function isEventStream(headers: IncomingHeaders): boolean {
  return String(headers['content-type']).includes('text/event-stream')
}

function headersOf(headers: RequestInit['headers']): Record<string, string> {
  if (headers instanceof Headers || Array.isArray(headers)) return Object.fromEntries(headers)
  const given = Object.entries(headers ?? {}) as [string, string | undefined][]
  return Object.fromEntries(given.filter((pair): pair is [string, string] => pair[1] !== undefined))
}

function bodyOf(body: RequestInit['body']): string | null {
  if (body === undefined || body === null) return null
  if (typeof body === 'string') return body
  throw new TypeError('only texts are sent to providers')
}

function pairsOf(headers: IncomingHeaders): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, one]),
  )
}
