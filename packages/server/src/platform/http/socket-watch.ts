import { socketCloseCodes } from '@atelier/contract'
import type { WebSocket } from 'ws'
import type { Principal } from '../identity/principal.ts'

/** Proxies drop silent sockets after 30 s and more; a peer that misses a ping is gone. */
const pingMilliseconds = 25_000

/** What was allowed when a socket was opened is looked at again this often. */
const checkMilliseconds = 10_000

/** How long a peer that has lost its right may take to answer the close before the connection is cut. */
const revokeGraceMilliseconds = 2_000

export interface SocketWatchOptions {
  /** Whether the credential behind open sockets still holds. */
  stillValid(principal: Principal): Promise<boolean>
  logger: { warn(fields: object, message: string): void }
  pingMilliseconds?: number | undefined
  checkMilliseconds?: number | undefined
}

/** Everything that is open, by the credential it was opened with. */
export interface SocketWatch extends Disposable {
  add(principal: Principal, socket: WebSocket): void
  /** Closes the socket once `allowed` answers false; asked as often as the credential is. */
  keepWhile(socket: WebSocket, allowed: () => Promise<boolean>): void
  /** open sockets of a user */
  count(userId: string): number
  all(): WebSocket[]
}

interface Watched {
  alive: boolean
  allowed: (() => Promise<boolean>)[]
}

interface Holder {
  principal: Principal
  sockets: Map<WebSocket, Watched>
}

export function createSocketWatch(options: SocketWatchOptions): SocketWatch {
  const holders = new Map<string, Holder>()
  let checking = false

  function drop(socket: WebSocket): void {
    for (const [key, { sockets }] of holders) {
      sockets.delete(socket)
      if (sockets.size === 0) holders.delete(key)
    }
  }

  const ping = setInterval(() => {
    for (const { sockets } of holders.values()) {
      for (const [socket, watched] of sockets) {
        if (!watched.alive) socket.terminate()
        else socket.ping()
        watched.alive = false
      }
    }
  }, options.pingMilliseconds ?? pingMilliseconds)

  const check = setInterval(async () => {
    // A database that answers slowly is not asked again meanwhile.
    if (checking) return
    checking = true
    await Promise.all([...holders.values()].map(checkHolder))
    checking = false
  }, options.checkMilliseconds ?? checkMilliseconds)

  async function checkHolder({ principal, sockets }: Holder): Promise<void> {
    try {
      if (!(await options.stillValid(principal))) {
        for (const socket of sockets.keys()) revoke(socket, socketCloseCodes.signedOut, 'signed out')
        return
      }
      for (const [socket, { allowed }] of sockets) {
        for (const allows of allowed)
          if (!(await allows())) revoke(socket, socketCloseCodes.forbidden, 'not allowed any more')
      }
    } catch (error) {
      // The database does not answer: new requests fail closed; what is open waits for the next check.
      options.logger.warn({ err: error }, 'what is behind open sockets could not be checked')
    }
  }

  return {
    add(principal, socket) {
      const key = keyOf(principal)
      const holder = holders.get(key) ?? { principal, sockets: new Map() }
      holders.set(key, holder)
      const watched: Watched = { alive: true, allowed: [] }
      holder.sockets.set(socket, watched)
      socket.on('pong', () => {
        watched.alive = true
      })
      socket.once('close', () => drop(socket))
    },
    keepWhile(socket, allowed) {
      for (const { sockets } of holders.values()) sockets.get(socket)?.allowed.push(allowed)
    },
    count: (userId) =>
      [...holders.values()]
        .filter(({ principal }) => principal.userId === userId)
        .reduce((sum, { sockets }) => sum + sockets.size, 0),
    all: () => [...holders.values()].flatMap(({ sockets }) => [...sockets.keys()]),
    [Symbol.dispose]() {
      clearInterval(ping)
      clearInterval(check)
    },
  }
}

/** Nothing is heard from here on, and who does not answer the close is cut off. */
function revoke(socket: WebSocket, code: number, reason: string): void {
  if (socket.readyState !== socket.OPEN) return
  socket.close(code, reason)
  socket.removeAllListeners('message')
  const cut = setTimeout(() => socket.terminate(), revokeGraceMilliseconds).unref()
  socket.once('close', () => clearTimeout(cut))
}

/** Sockets of one credential are checked together. */
function keyOf(principal: Principal): string {
  return principal.kind === 'api-key' ? principal.apiKeyId : principal.sessionId
}
