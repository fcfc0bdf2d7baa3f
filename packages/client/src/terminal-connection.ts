import {
  decodeTerminalServerMessage,
  encodeTerminalClientMessage,
  maxTerminalInputBytes,
  socketCloseCodes,
  type TerminalClientMessage,
  type TerminalExit,
  TerminalFrameError,
  type TerminalRole,
  type TerminalServerMessage,
  terminalFlow,
  terminalSocket,
} from '@atelier/contract'
import { type OpenTerminalSocket, openWebSocket, type TerminalSocket } from './terminal-socket.ts'

/** What shows the terminal. Whatever it is given takes effect in the order given. */
export interface TerminalDisplay {
  /** Takes output and calls `worked` when it has worked it off. */
  write(bytes: Uint8Array, worked: () => void): void
  /** A snapshot is written after this; it resets what is shown by itself. */
  resize(size: { cols: number; rows: number }): void
}

export type TerminalStatus =
  | { state: 'connecting' }
  | { state: 'open'; role: TerminalRole; viewers: number }
  /** the connection was lost; another attempt is made by itself */
  | { state: 'lost' }
  | { state: 'exited'; exit: TerminalExit }
  /** the server does not want this connection; it is not tried again by itself */
  | { state: 'refused'; code: number; reason: string }

export interface TerminalConnectionOptions {
  /** where the server is, such as `https://atelier.example`, without a path */
  baseUrl: string
  terminalId: string
  display: TerminalDisplay
  onStatus(status: TerminalStatus): void
  onTitle(title: string): void
  /** Asked before an attempt after a lost connection; one that rejects makes it wait on. */
  beforeRetry?(): Promise<void>
  openSocket?: OpenTerminalSocket
}

/** A view of one terminal that comes back by itself after a lost connection, exactly where it was. */
export interface TerminalConnection extends Disposable {
  status(): TerminalStatus
  /** Types. False, and nothing typed, while there is no connection or another one is the writer. */
  type(input: string | Uint8Array): boolean
  /** Sets the size that a writer wants; the terminal has it when the display is told. */
  fit(size: { cols: number; rows: number }): void
  /** Asks to become the writer. */
  takeOver(): void
  /** Connects anew at once, whatever the state. */
  reconnect(): void
}

/** Waits between attempts, in milliseconds: doubled from the first to the longest, each shortened by up to a half. */
const firstWaitMs = 250
const longestWaitMs = 8_000

/** Closed with one of these, a connection would be refused again. */
const refusals = new Set<number>([
  socketCloseCodes.done,
  socketCloseCodes.policyViolation,
  socketCloseCodes.tooLarge,
  socketCloseCodes.signedOut,
  socketCloseCodes.forbidden,
  socketCloseCodes.gone,
])

export function connectTerminal(options: TerminalConnectionOptions): TerminalConnection {
  const { display, beforeRetry = () => Promise.resolve(), openSocket = openWebSocket } = options
  let status: TerminalStatus = { state: 'connecting' }
  let socket: TerminalSocket | undefined
  /** what the display has been given; undefined until it has anything */
  let seq: number | undefined
  let size = { cols: 0, rows: 0 }
  let wanted: { cols: number; rows: number } | undefined
  let attempts = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Answers and timers of an attempt that another one has replaced mean nothing any more. */
  let generation = 0

  function become(next: TerminalStatus): void {
    status = next
    options.onStatus(next)
  }

  function send(message: TerminalClientMessage): void {
    // Made just now, in a buffer of its own.
    socket?.send(encodeTerminalClientMessage(message) as Uint8Array<ArrayBuffer>)
  }

  function drop(): void {
    generation += 1
    clearTimeout(timer)
    socket?.close()
    socket = undefined
  }

  function connect(): void {
    drop()
    const mine = generation
    let unacknowledged = 0
    const worked = (bytes: number) => {
      if (mine !== generation) return
      unacknowledged += bytes
      if (unacknowledged < terminalFlow.ackBytes) return
      send({ type: 'ack', bytes: unacknowledged })
      unacknowledged = 0
    }
    socket = openSocket(addressOf(options, seq), {
      onMessage(bytes) {
        if (mine === generation) read(bytes, worked)
      },
      onClose(code, reason) {
        if (mine !== generation) return
        socket = undefined
        if (status.state === 'exited') return
        if (refusals.has(code)) become({ state: 'refused', code, reason })
        else lose()
      },
    })
  }

  function read(bytes: Uint8Array, worked: (bytes: number) => void): void {
    try {
      take(decodeTerminalServerMessage(bytes), worked)
    } catch (error) {
      if (!(error instanceof TerminalFrameError)) throw error
      drop()
      become({ state: 'refused', code: socketCloseCodes.policyViolation, reason: 'not a message known here' })
    }
  }

  function take(message: TerminalServerMessage, worked: (bytes: number) => void): void {
    if (message.type === 'data') {
      seq = message.seq + message.bytes.length
      display.write(message.bytes, () => worked(message.bytes.length))
    } else if (message.type === 'snapshot') {
      seq = message.seq
      takeSize(message)
      display.write(message.bytes, () => worked(message.bytes.length))
    } else if (message.type === 'resize') takeSize(message)
    else if (message.type === 'role') {
      attempts = 0
      become({ state: 'open', role: message.role, viewers: message.viewers })
      sendSize()
    } else if (message.type === 'title') options.onTitle(message.title)
    else if (message.type === 'exit') {
      const { exitCode, signal, reason } = message
      become({ state: 'exited', exit: { exitCode, signal, reason } })
    }
    // An `error` answers what was typed before the role changed; the status tells who types now.
  }

  function takeSize({ cols, rows }: { cols: number; rows: number }): void {
    size = { cols, rows }
    display.resize(size)
  }

  function sendSize(): void {
    if (wanted === undefined || status.state !== 'open' || status.role !== 'writer') return
    if (wanted.cols !== size.cols || wanted.rows !== size.rows) send({ type: 'resize', ...wanted })
  }

  function lose(): void {
    become({ state: 'lost' })
    const mine = generation
    const wait = Math.min(firstWaitMs * 2 ** attempts, longestWaitMs) * (0.5 + Math.random() / 2)
    attempts = Math.min(attempts + 1, 10)
    timer = setTimeout(() => {
      beforeRetry().then(
        () => mine === generation && connect(),
        () => mine === generation && lose(),
      )
    }, wait)
  }

  connect()
  return {
    status: () => status,
    type(input) {
      if (status.state !== 'open' || status.role !== 'writer') return false
      const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input
      for (let start = 0; start < bytes.length; start += maxTerminalInputBytes)
        send({ type: 'input', bytes: bytes.subarray(start, start + maxTerminalInputBytes) })
      return true
    },
    fit(next) {
      wanted = next
      sendSize()
    },
    takeOver: () => send({ type: 'role', role: 'writer' }),
    reconnect() {
      if (status.state === 'exited') return
      become({ state: 'connecting' })
      connect()
    },
    [Symbol.dispose]: drop,
  }
}

function addressOf({ baseUrl, terminalId }: TerminalConnectionOptions, seq: number | undefined): string {
  const query = new URLSearchParams({
    sessionId: terminalId,
    ...(seq === undefined ? {} : { seq: `${seq}` }),
  })
  return `${baseUrl.replace(/^http/, 'ws').replace(/\/$/, '')}${terminalSocket.path}?${query}`
}
