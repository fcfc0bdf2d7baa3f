import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, request } from 'undici'

/**
 * The least that a gateway in Node can do: read a JSON request, parse it, send it on over kept-alive connections, pass
 * the answer back as it comes. Without accounts, limits, schemas, retries or a record of anything. Takes the upstream's
 * address as its argument and prints its own as its first line.
 */
const upstream = process.argv[2] ?? ''
const dispatcher = new Agent({ connections: 256, pipelining: 1 })

const server = createServer((incoming, outgoing) => {
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
  incoming.on('end', () => {
    const body = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()))
    request(`${upstream}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer bench' },
      body,
      dispatcher,
    })
      .then((answer) => {
        outgoing.writeHead(answer.statusCode, { 'content-type': String(answer.headers['content-type']) })
        answer.body.pipe(outgoing)
      })
      .catch((error: unknown) => outgoing.destroy(error instanceof Error ? error : undefined))
  })
})

server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
