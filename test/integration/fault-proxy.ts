import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface FaultProxy extends AsyncDisposable {
  /** the target's URL, by way of the proxy */
  readonly url: string
  /** While silent, connections stand and nothing passes, as behind a network that drops packets. */
  silence(on: boolean): void
  /** Resets every connection. */
  reset(): void
}

/** A TCP proxy on loopback that misbehaves on demand. */
export async function startFaultProxy(target: URL): Promise<FaultProxy> {
  const sockets = new Set<Socket>()
  let silent = false
  const relay = (from: Socket, to: Socket) => {
    sockets.add(from)
    // What arrives in silence is lost, and the connection with it: it would be out of step.
    from.on('data', (data) => {
      if (!silent) to.write(data)
    })
    from.on('error', () => to.destroy())
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
  }
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    relay(client, upstream)
    relay(upstream, client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    silence: (on) => {
      silent = on
    },
    reset: () => {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
