import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { hostOnlyCookie, pairs } from './content-headers.ts'

/** Longest head of an answer to an upgrade, in bytes: Node's own limit for headers. */
const maxHeadBytes = 16 * 1024

/** How long a program may take to answer an upgrade. */
const answerMilliseconds = 30_000

/**
 * Passes an upgrade on and joins both connections when the program has agreed. Of any other answer only the status is
 * passed back: joined without an agreement, the connection would carry the next request past all checks. Resolves
 * when both are joined or the refusal is on its way.
 */
export async function forwardUpgrade(options: {
  incoming: IncomingMessage
  /** as `inboundHeaders` gives them */
  headers: string[]
  socket: Duplex
  head: Buffer
  connection: Duplex
}): Promise<void> {
  const { incoming, headers, socket, head, connection } = options
  const lines = pairs([...headers, 'connection', 'Upgrade', 'upgrade', 'websocket']).map(
    ([name, value]) => `${name}: ${value}`,
  )
  const request = `${incoming.method} ${incoming.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
  connection.write(Buffer.from(request, 'latin1'))
  if (head.length > 0) connection.write(head)
  const { answer, rest } = await readHead(connection).catch((error: unknown) => {
    connection.destroy()
    throw error
  })
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1] ?? 502)
  if (socket.destroyed || status !== 101) {
    connection.destroy()
    return void socket.end(
      `HTTP/1.1 ${status < 400 ? 502 : status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
    )
  }
  socket.write(Buffer.from(rewriteHead(answer), 'latin1'))
  if (rest.length > 0) socket.write(rest)
  join(socket, connection)
}

function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to)
    // A peer that has gone has nobody to tell; the other end must not stay.
    from.on('error', () => to.destroy())
    from.once('close', () => to.destroy())
  }
}

function readHead(connection: Duplex): Promise<{ answer: string; rest: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ answer: string; rest: Buffer }>()
  let received = Buffer.alloc(0)
  const take = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    const end = received.indexOf('\r\n\r\n')
    if (end < 0 && received.length <= maxHeadBytes) return
    connection.off('data', take)
    connection.pause()
    if (end < 0) reject(new Error('the program answers with too long a head'))
    else resolve({ answer: received.toString('latin1', 0, end), rest: received.subarray(end + 4) })
  }
  const timer = setTimeout(
    () => reject(new Error('the program does not answer the upgrade')),
    answerMilliseconds,
  )
  const gone = () => reject(new Error('the program ended the connection'))
  connection.on('data', take)
  connection.once('end', gone).once('close', gone).once('error', reject)
  return promise.finally(() => {
    clearTimeout(timer)
    connection.off('end', gone).off('close', gone)
  })
}

/** Cookies are set with an upgrade too. */
function rewriteHead(answer: string): string {
  const lines = answer.split('\r\n').flatMap((line) => {
    const cookie = /^set-cookie:\s*(.*)$/i.exec(line)?.[1]
    if (cookie === undefined) return [line]
    const own = hostOnlyCookie(cookie)
    return own === null ? [] : [`set-cookie: ${own}`]
  })
  return `${lines.join('\r\n')}\r\n\r\n`
}
