import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import {
  type Dialect,
  type Told,
  type WireAnswer,
  wireAnswer,
  wireDocument,
  wireFailure,
  wireRefusal,
} from './gateway-wire-bytes.ts'

/** What a provider does with every request until it is told otherwise. `after` counts the pieces of text before it. */
export type Fault =
  | { kind: 'none' | 'missing-usage' | 'slow-drip' | 'huge' | 'endless' }
  | { kind: 'status'; status: number; retryAfterSeconds?: number }
  /** nobody listens at its address */
  | { kind: 'refused' }
  | { kind: 'hang' }
  | { kind: 'hang-after' | 'cut' | 'malformed' | 'error-event'; after: number }

export const pieces = Array.from({ length: 60 }, (_, index) => `wört${index} `)
export const told: Told = { input: 1_000, output: 120 }
/** 10 MB in one event. */
export const hugeText = 'x'.repeat(10 * 1024 * 1024)

export interface FaultProvider extends AsyncDisposable {
  readonly origin: string
  readonly calls: number
  /** connections that the platform holds open */
  readonly connections: number
  /** answers that have begun and whose connection stands */
  readonly answering: number
  become(fault: Fault): Promise<void>
}

/** A provider that speaks one protocol byte by byte and fails as it is told. */
export async function startFaultProvider(dialect: Dialect): Promise<FaultProvider> {
  let fault: Fault = { kind: 'none' }
  let calls = 0
  let connections = 0
  let answering = 0
  let stopped = false
  const server = createServer((request, response) => void serve(request, response))
  server.on('connection', (socket) => {
    connections += 1
    socket.on('close', () => {
      connections -= 1
    })
  })
  const port = await listenSomewhere(server)

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    calls += 1
    answering += 1
    response.on('close', () => {
      answering -= 1
    })
    const body = (await json(request)) as { model?: string; stream?: boolean }
    const path = request.url ?? ''
    const model = body.model ?? path
    const streamed = body.stream === true || path.includes('streamGenerateContent')
    if (fault.kind === 'hang') return
    if (fault.kind === 'status') return refuse(response, dialect, fault)
    if (streamed) await stream(response, model, fault)
    else sendDocument(response, { dialect, model, fault })
  }

  async function stream(response: ServerResponse, model: string, current: Fault): Promise<void> {
    const texts = current.kind === 'huge' ? [hugeText] : pieces
    const usage = current.kind === 'missing-usage' ? undefined : told
    const answer = wireAnswer(dialect, model, texts, usage)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (current.kind === 'slow-drip') return drip(response, answer)
    if (current.kind === 'endless') return repeat(response, answer)
    if (!('after' in current))
      return void response.end([answer.head, answer.texts, answer.tail].flat().join(''))
    const before = [...answer.head, ...answer.texts.slice(0, current.after)].join('')
    const rest = [...answer.texts.slice(current.after), ...answer.tail].join('')
    if (current.kind === 'hang-after') response.write(before)
    else if (current.kind === 'error-event') response.end(before + wireFailure(dialect))
    else if (current.kind === 'malformed') response.end(`${before}data: {"broken": \n\n${rest}`)
    else response.write(before, () => response.socket?.end())
  }

  /** Goes on although nobody listens any more, as providers do that do not notice a cancel. */
  async function repeat(response: ServerResponse, answer: WireAnswer): Promise<void> {
    response.write(answer.head.join(''))
    while (!stopped && fault.kind === 'endless') {
      response.write(answer.texts[0])
      await wait(5)
    }
    response.end()
  }

  return {
    origin: `http://127.0.0.1:${port}`,
    get calls() {
      return calls
    },
    get connections() {
      return connections
    },
    get answering() {
      return answering
    },
    async become(next) {
      if (next.kind === 'refused' && server.listening) await close(server)
      if (next.kind !== 'refused' && !server.listening) await listen(server, port)
      fault = next
    },
    async [Symbol.asyncDispose]() {
      stopped = true
      if (server.listening) await close(server)
    },
  }
}

/** Below the ports that the system gives to outgoing connections: nobody takes it while nobody listens there. */
async function listenSomewhere(server: Server): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    try {
      await listen(server, port)
      return port
    } catch (error) {
      if (tries === 50) throw error
    }
  }
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

async function close(server: Server): Promise<void> {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}

/** Seven bytes at a time: events, lines and characters arrive in parts. */
async function drip(response: ServerResponse, { head, texts, tail }: WireAnswer): Promise<void> {
  const bytes = Buffer.from([head, texts, tail].flat().join(''))
  for (let start = 0; start < bytes.length && !response.destroyed; start += 7) {
    response.write(bytes.subarray(start, start + 7))
    if (start % 70 === 0) await turn()
  }
  response.end()
}

function refuse(response: ServerResponse, dialect: Dialect, fault: Fault & { kind: 'status' }): void {
  const { status, retryAfterSeconds } = fault
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  })
  response.end(wireRefusal(dialect, status))
}

/** An answer that is not streamed, broken in the middle of its bytes. */
function sendDocument(
  response: ServerResponse,
  { dialect, model, fault }: { dialect: Dialect; model: string; fault: Fault },
): void {
  const text = fault.kind === 'huge' ? hugeText : pieces.join('')
  const usage = fault.kind === 'missing-usage' ? undefined : told
  const whole = Buffer.from(wireDocument(dialect, model, text, usage))
  const half = whole.subarray(0, whole.length / 2)
  const failure = wireRefusal(dialect, 503)
  const length = fault.kind === 'error-event' ? Buffer.byteLength(failure) : whole.length
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
  if (fault.kind === 'error-event') response.end(failure)
  else if (fault.kind === 'hang-after') response.write(half)
  else if (fault.kind === 'cut') response.write(half, () => response.socket?.end())
  else if (fault.kind === 'malformed')
    response.end(Buffer.concat([half, Buffer.alloc(whole.length - half.length, '{')]))
  else response.end(whole)
}
