import {
  connectTerminal,
  createClient,
  type OpenTerminalSocket,
  type TerminalConnection,
} from '@atelier/client'
import {
  createTerminal,
  decodeTerminalServerMessage,
  encodeTerminalClientMessage,
  listTerminals,
  type Terminal,
  type TerminalClientMessage,
  type TerminalExit,
  type TerminalServerMessage,
  terminalFlow,
  terminalSocket,
} from '@atelier/contract'
import type { Person } from '@atelier/testkit'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import { createScreenModel } from '../../packages/server/src/features/terminal/screen-model.ts'

/** Most of the output that a viewer remembers. */
const rememberedBytes = 1024 * 1024

/** As long as a busy machine may need for something that will come. */
export const patient = { timeout: 60_000, interval: 20 }

/** A connection to a terminal that does only what a test tells it to. */
export interface Viewer {
  /** everything but output, in order; `exit` has `received` with it, the bytes that came before */
  readonly messages: readonly TerminalServerMessage[]
  /** the end of the output */
  text(): string
  /** bytes of data and snapshots */
  received(): number
  /** position after what was received */
  seq(): number
  exit(): (TerminalExit & { received: number }) | undefined
  closed(): { code: number; reason: string } | undefined
  role(): string | undefined
  send(message: TerminalClientMessage): void
  sendBytes(bytes: Uint8Array): void
  type(text: string): void
  /** Reads nothing more, as a page does that is stuck. */
  stopReading(): void
  goOn(): void
  close(): void
}

export interface ViewOptions {
  seq?: number
  /** false: acknowledges nothing by itself */
  acknowledge?: boolean
}

export function view(url: string, person: Person, id: string, options: ViewOptions = {}): Viewer {
  const query = new URLSearchParams({ sessionId: id })
  if (options.seq !== undefined) query.set('seq', String(options.seq))
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${terminalSocket.path}?${query}`, {
    headers: person.headers,
  })
  const messages: TerminalServerMessage[] = []
  let remembered = Buffer.alloc(0)
  let received = 0
  let unacknowledged = 0
  let seq = 0
  let exit: (TerminalExit & { received: number }) | undefined
  let closed: { code: number; reason: string } | undefined
  const send = (message: TerminalClientMessage) => socket.send(encodeTerminalClientMessage(message))
  socket.on('error', () => undefined)
  socket.on('close', (code, reason) => {
    closed = { code, reason: reason.toString() }
  })
  socket.on('message', (data: Buffer) => {
    const message = decodeTerminalServerMessage(data)
    if (message.type !== 'data' && message.type !== 'snapshot') {
      messages.push(message)
      if (message.type === 'exit') exit = { ...message, received }
      return
    }
    received += message.bytes.length
    unacknowledged += message.bytes.length
    seq = message.type === 'data' ? message.seq + message.bytes.length : message.seq
    const all = Buffer.concat([message.type === 'data' ? remembered : Buffer.alloc(0), message.bytes])
    remembered = all.subarray(Math.max(0, all.length - rememberedBytes))
    if (options.acknowledge === false || unacknowledged < terminalFlow.ackBytes) return
    send({ type: 'ack', bytes: unacknowledged })
    unacknowledged = 0
  })
  return {
    messages,
    // Shells switch bracketed paste on and off at every prompt.
    text: () => remembered.toString().replaceAll('\x1b[?2004h', '').replaceAll('\x1b[?2004l', ''),
    received: () => received,
    seq: () => seq,
    exit: () => exit,
    closed: () => closed,
    role: () => messages.findLast((message) => message.type === 'role')?.role,
    send,
    sendBytes: (bytes) => socket.send(bytes),
    type: (text) => send({ type: 'input', bytes: Buffer.from(text) }),
    stopReading: () => socket.pause(),
    goOn: () => socket.resume(),
    close: () => socket.close(),
  }
}

export async function openTerminal(
  url: string,
  person: Person,
  wanted: { workspaceId: string; command?: string[]; cols?: number; rows?: number; cwd?: string },
): Promise<Terminal> {
  const api = createClient({ baseUrl: url, headers: person.headers, validateAnswers: true })
  return api.call(createTerminal, { body: wanted })
}

export async function findTerminal(url: string, person: Person, id: string): Promise<Terminal | undefined> {
  const api = createClient({ baseUrl: url, headers: person.headers, validateAnswers: true })
  return (await api.call(listTerminals, { query: { id } })).items[0]
}

/** Waits until the output has this in it. */
export async function said(viewer: Viewer, text: string): Promise<void> {
  await expect.poll(() => viewer.text(), patient).toContain(text)
}

/** A page's view: the client's connection with an emulator; `screen` is what a person sees. */
export interface ScreenViewer extends Disposable {
  readonly connection: TerminalConnection
  screen(): string
  /** Loses the connection, as a network does; it comes back by itself. */
  cut(): void
  /** what each connection asked for */
  readonly asked: readonly string[]
}

export function viewAsPage(url: string, person: Person, id: string): ScreenViewer {
  const model = createScreenModel({ cols: 80, rows: 24, onReply: () => undefined, onTitle: () => undefined })
  const asked: string[] = []
  let current: WebSocket | undefined
  const openSocket: OpenTerminalSocket = (address, events) => {
    const socket = new WebSocket(address, { headers: person.headers })
    asked.push(new URL(address).searchParams.get('seq') ?? 'snapshot or all')
    current = socket
    socket.on('error', () => undefined)
    socket.on('message', (data: Buffer) => events.onMessage(new Uint8Array(data)))
    socket.on('close', (code, reason) => events.onClose(code, reason.toString()))
    return {
      send: (bytes) => socket.readyState === WebSocket.OPEN && socket.send(bytes),
      close: () => socket.close(),
    }
  }
  const connection = connectTerminal({
    baseUrl: url,
    terminalId: id,
    display: {
      write: (bytes, worked) => model.write(bytes, worked),
      resize: (size) => model.write(new Uint8Array(0), () => model.resize(size)),
    },
    onStatus: () => undefined,
    onTitle: () => undefined,
    openSocket,
  })
  return {
    connection,
    screen: () => model.snapshot(),
    cut: () => current?.terminate(),
    asked,
    [Symbol.dispose]() {
      connection[Symbol.dispose]()
      model[Symbol.dispose]()
    },
  }
}
