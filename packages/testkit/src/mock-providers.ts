import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LLMock } from '@copilotkit/aimock'
import { errorBody, errorEvent, type WireProtocol, wireProtocolOf } from './wire-protocols.ts'

/**
 * What goes wrong with a request. `after` counts the events of a stream that still arrive:
 * - `status`: an error answer in the provider's own words
 * - `hang`: no answer at all, until the caller goes away
 * - `stall`: a stream that falls silent
 * - `pause`: a stream that falls silent until `resume` is called, and then goes on to its end
 * - `end`: a stream that ends properly as HTTP goes, but before the answer is complete
 * - `cut`: the connection breaks
 * - `malformed`: something that is not JSON in the middle, then the rest
 * - `error-event`: the provider reports a failure inside the stream
 */
export type ProviderFault =
  | { kind: 'status'; status: number; code?: string; message?: string; retryAfterSeconds?: number }
  | { kind: 'hang' }
  | { kind: 'stall' | 'pause' | 'end' | 'cut' | 'malformed' | 'error-event'; after: number }

export interface MockReply {
  content: string
  reasoning?: string
  toolCalls?: { name: string; arguments: Record<string, unknown> }[]
  /** as the provider reports it: `prompt_tokens`, `input_tokens` or `promptTokenCount` … */
  usage?: Record<string, unknown>
}

export interface ProviderRequest {
  protocol: WireProtocol
  path: string
  body: Record<string, unknown>
  /** the credential of the request, in whichever header the protocol has it */
  key: string | undefined
}

export interface MockProviders extends AsyncDisposable {
  readonly origin: string
  /** keys and addresses of OpenAI, Anthropic, Google, Mistral, Groq and a compatible server, all of them this mock */
  readonly environment: Record<string, string>
  readonly requests: readonly ProviderRequest[]
  /**
   * From now on a question that has this text in it gets this reply; later calls win. `afterTools`: only once tools have
   * been called for it, or only before.
   */
  answer(question: string | RegExp, reply: MockReply, only?: { afterTools: boolean }): void
  /** The next `times` requests (all, when absent) of a protocol (any, when absent) fail. */
  fail(fault: ProviderFault, only?: { protocol?: WireProtocol; times?: number }): void
  /** Streams that pause go on. */
  resume(): void
  /** No request fails any more; what hangs or pauses is broken off. */
  heal(): void
}

export const mockKey = 'mock-key-0123456789abcdef'

/** A server that speaks OpenAI's, Anthropic's and Google's protocols (aimock) behind one that breaks them on demand. */
export async function startMockProviders(): Promise<MockProviders> {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 8 })
  mock.on({ endpoint: 'chat' }, (asked) => ({ content: `Mock answer to: ${lastQuestion(asked.messages)}` }))
  await mock.start()
  const requests: ProviderRequest[] = []
  const faults: { fault: ProviderFault; protocol: WireProtocol | undefined; left: number }[] = []
  const silent = new Set<ServerResponse>()
  const paused = new Set<() => void>()
  const server = createServer((incoming, outgoing) => {
    void serve(incoming, outgoing)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await readAll(incoming)
    const path = incoming.url ?? '/'
    const protocol = wireProtocolOf(path)
    requests.push({ protocol, path, body: parseJson(body), key: keyOf(incoming) })
    const index = faults.findIndex(
      (entry) => entry.left > 0 && (entry.protocol === undefined || entry.protocol === protocol),
    )
    const entry = faults[index]
    if (entry !== undefined) entry.left -= 1
    if (entry !== undefined && ['hang', 'stall', 'pause'].includes(entry.fault.kind)) silent.add(outgoing)
    if (entry?.fault.kind === 'hang') return
    if (entry?.fault.kind === 'status') return refuse(outgoing, protocol, entry.fault)
    forward({ to: mock.url, incoming, body, outgoing, protocol, fault: entry?.fault, paused })
  }

  return {
    origin,
    environment: environmentFor(origin),
    requests,
    answer(question, reply, only) {
      const { toolCalls, ...rest } = reply
      mock.prependFixture({
        match: { userMessage: question, ...(only && { hasToolResult: only.afterTools }) },
        response: {
          ...rest,
          ...(toolCalls && {
            toolCalls: toolCalls.map((call) => ({ ...call, arguments: JSON.stringify(call.arguments) })),
          }),
        },
      })
    },
    fail(fault, only = {}) {
      faults.push({ fault, protocol: only.protocol, left: only.times ?? Number.POSITIVE_INFINITY })
    },
    resume() {
      for (const goOn of paused) goOn()
      paused.clear()
    },
    heal() {
      faults.length = 0
      paused.clear()
      for (const outgoing of silent) outgoing.destroy()
      silent.clear()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((closed) => server.close(() => closed()))
      await mock.stop()
    },
  }
}

function environmentFor(origin: string): Record<string, string> {
  return {
    OPENAI_API_KEY: mockKey,
    OPENAI_BASE_URL: `${origin}/v1`,
    ANTHROPIC_API_KEY: mockKey,
    ANTHROPIC_BASE_URL: `${origin}/v1`,
    GOOGLE_GENERATIVE_AI_API_KEY: mockKey,
    GOOGLE_GENERATIVE_AI_BASE_URL: `${origin}/v1beta`,
    MISTRAL_API_KEY: mockKey,
    MISTRAL_BASE_URL: `${origin}/v1`,
    GROQ_API_KEY: mockKey,
    GROQ_BASE_URL: `${origin}/v1`,
    OPENAI_COMPATIBLE_BASE_URL: `${origin}/v1`,
    LOCAL_MODEL_DISCOVERY: 'off',
  }
}

interface Exchange {
  to: string
  incoming: IncomingMessage
  body: Buffer
  outgoing: ServerResponse
  protocol: WireProtocol
  fault: ProviderFault | undefined
  /** what lets streams that pause go on */
  paused: Set<() => void>
}

/** Passes a request on and its answer back, event by event where a fault wants to count them. */
function forward({ to, incoming, body, outgoing, protocol, fault, paused }: Exchange): void {
  const upstream = request(
    new URL(incoming.url ?? '/', to),
    { method: incoming.method, headers: { ...incoming.headers, host: new URL(to).host } },
    (answer) => {
      if (fault === undefined || !('after' in fault)) {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
        return
      }
      void readAll(answer).then((whole) => {
        const { 'content-length': _, 'transfer-encoding': __, ...headers } = answer.headers
        const streamed = String(headers['content-type']).includes('text/event-stream')
        if (streamed) breakStream({ outgoing, headers, events: eventsOf(whole), protocol, fault, paused })
        else breakBody(outgoing, headers, whole, fault)
      })
    },
  )
  upstream.on('error', () => outgoing.destroy())
  upstream.end(body)
}

function breakStream(options: {
  outgoing: ServerResponse
  headers: Record<string, string | string[] | undefined>
  events: string[]
  protocol: WireProtocol
  fault: ProviderFault & { after: number }
  paused: Set<() => void>
}): void {
  const { outgoing, events, protocol, fault, paused } = options
  outgoing.writeHead(200, options.headers)
  const before = events.slice(0, fault.after).join('')
  const rest = events.slice(fault.after).join('')
  if (fault.kind === 'stall') outgoing.write(before)
  else if (fault.kind === 'pause') {
    outgoing.write(before)
    paused.add(() => outgoing.end(rest))
  } else if (fault.kind === 'end') outgoing.end(before)
  else if (fault.kind === 'error-event') outgoing.end(before + errorEvent(protocol))
  else if (fault.kind === 'malformed') outgoing.end(`${before}data: {"broken": \n\n${rest}`)
  else outgoing.write(before, () => outgoing.socket?.end())
}

function breakBody(
  outgoing: ServerResponse,
  headers: Record<string, string | string[] | undefined>,
  whole: Buffer,
  fault: ProviderFault,
): void {
  if (fault.kind === 'stall') {
    outgoing.writeHead(200, { ...headers, 'content-length': whole.length })
    outgoing.flushHeaders()
    return
  }
  const half = whole.subarray(0, Math.floor(whole.length / 2))
  outgoing.writeHead(200, fault.kind === 'cut' ? { ...headers, 'content-length': whole.length } : headers)
  if (fault.kind === 'cut') outgoing.write(half, () => outgoing.socket?.end())
  else outgoing.end(half)
}

function refuse(
  outgoing: ServerResponse,
  protocol: WireProtocol,
  fault: ProviderFault & { kind: 'status' },
): void {
  outgoing.writeHead(fault.status, {
    'content-type': 'application/json',
    ...(fault.retryAfterSeconds === undefined ? {} : { 'retry-after': String(fault.retryAfterSeconds) }),
  })
  outgoing.end(JSON.stringify(errorBody(protocol, fault)))
}

function eventsOf(whole: Buffer): string[] {
  return whole
    .toString()
    .split(/(?<=\r?\n\r?\n)/)
    .filter((event) => event.trim() !== '')
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function parseJson(body: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(body.toString()) as Record<string, unknown>
  } catch {
    return {}
  }
}

function keyOf(incoming: IncomingMessage): string | undefined {
  const { authorization, 'x-api-key': anthropic, 'x-goog-api-key': google } = incoming.headers
  return authorization?.replace(/^Bearer /, '') ?? [anthropic, google].flat().find((key) => key !== undefined)
}

function lastQuestion(messages: { role: string; content: unknown }[]): string {
  const content = messages.findLast((message) => message.role === 'user')?.content
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? (content as { text?: string }[]) : []
  return parts.map((part) => part.text ?? '').join('')
}
