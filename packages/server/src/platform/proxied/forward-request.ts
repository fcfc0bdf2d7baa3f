import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { outboundHeaders } from './content-headers.ts'

export interface ForwardOptions {
  incoming: IncomingMessage
  /** as `inboundHeaders` gives them */
  headers: string[]
  /** a connection to the program, used for this request only */
  connection: Duplex
  /** origin whose pages may show the answer in a frame */
  frameAncestor: string
}

/** How long a program may take until it begins to answer: a cold build of a large page takes minutes. */
const answerMilliseconds = 5 * 60_000

/**
 * Passes one request on and its answer back, both as streams: nothing is kept. Rejects if the program ends the
 * connection before it answers, or does not begin to; once it has begun, a break cuts the answer visibly.
 */
export async function forwardRequest(options: ForwardOptions, response: ServerResponse): Promise<void> {
  const { incoming, connection } = options
  const giveUp = () => connection.destroy()
  response.once('close', giveUp)
  try {
    const answer = await exchange(options)
    response.writeHead(
      answer.statusCode ?? 502,
      answer.statusMessage ?? '',
      outboundHeaders(answer.rawHeaders, options),
    )
    // The first event of a stream may be long in coming: its headers are not.
    response.flushHeaders()
    await pipeline(answer, response)
  } catch (error) {
    incoming.unpipe()
    if (!response.headersSent) throw error
    response.destroy()
  } finally {
    response.off('close', giveUp)
    connection.destroy()
  }
}

function exchange({ incoming, headers, connection }: ForwardOptions): Promise<IncomingMessage> {
  const outgoing = request({
    method: incoming.method,
    path: incoming.url,
    headers: withFraming(incoming, headers),
    setHost: false,
    createConnection: () => connection,
  })
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const timer = setTimeout(
    () => outgoing.destroy(new Error('the program does not begin to answer')),
    answerMilliseconds,
  )
  outgoing.once('response', resolve)
  outgoing.once('upgrade', () => reject(new Error('the program switches to another protocol unasked')))
  outgoing.on('error', reject)
  incoming.once('error', () => outgoing.destroy())
  incoming.pipe(outgoing)
  return promise.finally(() => clearTimeout(timer))
}

/** The length or the chunks of a body are about this connection, so they were not among the headers. */
function withFraming({ headers }: IncomingMessage, passed: string[]): string[] {
  return headers['transfer-encoding'] === undefined
    ? [...passed, 'connection', 'close']
    : [...passed, 'connection', 'close', 'transfer-encoding', 'chunked']
}
