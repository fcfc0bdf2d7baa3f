import {
  decodeTerminalClientMessage,
  socketCloseCodes,
  TerminalFrameError,
  terminalSocket,
} from '@atelier/contract'
import type { WebSocket } from 'ws'
import type { Sockets } from '../../platform/http/sockets.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'
import { mayUse, terminalFor } from './terminal-routes.ts'
import type { Attachment } from './terminal-session.ts'
import type { TerminalSessions } from './terminal-sessions.ts'
import type { ViewerConnection } from './terminal-viewer.ts'

/** Messages of a client in a tenth of a second; what comes faster waits. Acknowledgements of 100 MB/s are 160. */
const messagesPerTenth = 500
const tenthMilliseconds = 100

/** Nothing that is sent without regard to acknowledgements adds up to this for a client that reads at all. */
const maxBufferedBytes = 8 * 1024 * 1024

export function mountTerminalSocket(dependencies: {
  sockets: Sockets
  guard: WorkspaceGuard
  terminals: TerminalSessions
  logger: { error(fields: object, message: string): void }
}): void {
  const { sockets, guard, terminals, logger } = dependencies
  sockets.mount(terminalSocket, async ({ principal, query, socket, requestId, keepWhile }) => {
    const terminal = await terminalFor({ guard, terminals }, principal, query.sessionId)
    keepWhile(() => mayUse(guard, principal, terminal.request.workspaceId))
    const reading = createReading(socket)
    const connection = connectionOf(socket, principal.userId, reading)
    const attachment = terminal.attach(connection, query.seq)
    if (socket.readyState !== socket.OPEN && socket.readyState !== socket.CLOSING) return attachment.detach()
    socket.once('close', () => {
      reading[Symbol.dispose]()
      attachment.detach()
    })
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      reading.count()
      try {
        receive(attachment, isBinary ? data : undefined)
      } catch (error) {
        const broken = error instanceof TerminalFrameError
        if (!broken) logger.error({ err: error, requestId }, 'a message to a terminal failed')
        socket.close(
          broken ? socketCloseCodes.policyViolation : socketCloseCodes.internalError,
          broken ? error.message.slice(0, 120) : 'the server failed',
        )
      }
    })
  })
}

function receive(attachment: Attachment, data: Buffer | undefined): void {
  if (!data) throw new TerminalFrameError('messages are binary')
  if (!attachment.receive(decodeTerminalClientMessage(data)))
    throw new TerminalFrameError('more was acknowledged than was sent')
}

function connectionOf(socket: WebSocket, userId: string, reading: Reading): ViewerConnection {
  return {
    userId,
    send(frame) {
      if (socket.readyState !== socket.OPEN) return
      socket.send(frame)
      if (socket.bufferedAmount > maxBufferedBytes)
        socket.close(socketCloseCodes.tooSlow, 'the output is not being read')
    },
    buffered: () => socket.bufferedAmount,
    pause: () => reading.stop('no room'),
    resume: () => reading.go('no room'),
    close: (code, reason) => socket.close(code, reason),
  }
}

type Obstacle = 'no room' | 'too fast'

/** Whether the client is read from: not while anything speaks against it. */
interface Reading extends Disposable {
  stop(obstacle: Obstacle): void
  go(obstacle: Obstacle): void
  /** A message has come. */
  count(): void
}

function createReading(socket: WebSocket): Reading {
  const obstacles = new Set<Obstacle>()
  let messages = 0
  let countedSince = 0
  let timer: NodeJS.Timeout | undefined
  const reading: Reading = {
    stop(obstacle) {
      obstacles.add(obstacle)
      socket.pause()
    },
    go(obstacle) {
      if (obstacles.delete(obstacle) && obstacles.size === 0) socket.resume()
    },
    count() {
      const now = performance.now()
      if (now - countedSince > tenthMilliseconds) {
        countedSince = now
        messages = 0
      }
      messages += 1
      if (messages <= messagesPerTenth || obstacles.has('too fast')) return
      reading.stop('too fast')
      timer = setTimeout(() => reading.go('too fast'), tenthMilliseconds)
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
  return reading
}
