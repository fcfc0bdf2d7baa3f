import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'

/** Connections at once; the proxy on the other side has limits of its own. */
const maxConnections = 256

export interface EgressBridge extends AsyncDisposable {
  readonly port: number
}

/**
 * Gives programs inside an address for the egress proxy: a port of the sandbox's own loopback, joined to the proxy's
 * UNIX socket. Undefined if the socket is not there, which is how a workspace without network looks.
 */
export async function openEgressBridge(socketPath: string | undefined): Promise<EgressBridge | undefined> {
  if (socketPath === undefined || !existsSync(socketPath)) return undefined
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (inside) => {
    const outside = connect({ path: socketPath, allowHalfOpen: true })
    for (const [socket, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      open.add(socket)
      socket.on('error', () => other.destroy())
      socket.once('close', () => {
        open.delete(socket)
        other.destroySoon()
      })
      socket.pipe(other)
    }
  })
  server.maxConnections = maxConnections
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the egress bridge has no port')
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}
