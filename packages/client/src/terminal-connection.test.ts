import {
  decodeTerminalClientMessage,
  encodeTerminalServerMessage,
  socketCloseCodes,
  type TerminalClientMessage,
  type TerminalServerMessage,
  terminalFlow,
} from '@atelier/contract'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connectTerminal, type TerminalStatus } from './terminal-connection.ts'
import type { TerminalSocketEvents } from './terminal-socket.ts'

interface Made {
  url: URL
  sent: TerminalClientMessage[]
  closed: boolean
  say(message: TerminalServerMessage): void
  sayBytes(bytes: Uint8Array): void
  end(code: number, reason?: string): void
}

function setUp() {
  const sockets: Made[] = []
  const shown: string[] = []
  const sizes: unknown[] = []
  const statuses: TerminalStatus[] = []
  const unworked: (() => void)[] = []
  let retry = () => Promise.resolve()
  const connection = connectTerminal({
    baseUrl: 'https://atelier.example/',
    terminalId: 'term_1',
    display: {
      write(bytes, worked) {
        shown.push(new TextDecoder().decode(bytes))
        unworked.push(worked)
      },
      resize: (size) => sizes.push(size),
    },
    onStatus: (status) => statuses.push(status),
    onTitle: (title) => shown.push(`title ${title}`),
    beforeRetry: () => retry(),
    openSocket: (url, events) => open(url, events),
  })

  function open(url: string, events: TerminalSocketEvents) {
    const made: Made = {
      url: new URL(url),
      sent: [],
      closed: false,
      say: (message) => events.onMessage(encodeTerminalServerMessage(message)),
      sayBytes: events.onMessage,
      end: (code, reason = '') => events.onClose(code, reason),
    }
    sockets.push(made)
    return {
      send: (bytes: Uint8Array) => void made.sent.push(decodeTerminalClientMessage(bytes.slice())),
      close() {
        made.closed = true
      },
    }
  }

  return {
    connection,
    sockets,
    shown,
    sizes,
    statuses,
    last: () => sockets.at(-1) as Made,
    workOff() {
      for (const worked of unworked.splice(0)) worked()
    },
    onRetry: (answer: () => Promise<void>) => {
      retry = answer
    },
  }
}

const text = (value: string) => new TextEncoder().encode(value)
const writer = { type: 'role', role: 'writer', viewers: 1 } as const
const lost = 1006

describe('a view of a terminal', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('[TERM7] comes back after a lost connection with the position it has', async () => {
    const { last, sockets, shown, statuses } = setUp()
    expect(last().url.href).toBe('wss://atelier.example/api/terminal/ws?sessionId=term_1')
    last().say(writer)
    last().say({ type: 'data', seq: 0, bytes: text('hello') })
    last().end(lost)
    expect(statuses.at(-1)).toEqual({ state: 'lost' })
    await vi.advanceTimersByTimeAsync(250)
    expect(sockets).toHaveLength(2)
    expect(last().url.searchParams.get('seq')).toBe('5')
    last().say({ type: 'snapshot', seq: 90, cols: 80, rows: 24, bytes: text('screen') })
    last().end(socketCloseCodes.tooSlow)
    await vi.advanceTimersByTimeAsync(500)
    expect(last().url.searchParams.get('seq')).toBe('90')
    expect(shown).toEqual(['hello', 'screen'])
  })

  it('[TERM13] acknowledges what the display has worked off, and nothing of an earlier connection', async () => {
    const { last, workOff } = setUp()
    const half = new Uint8Array(terminalFlow.ackBytes / 2)
    last().say(writer)
    last().say({ type: 'data', seq: 0, bytes: half })
    last().say({ type: 'data', seq: half.length, bytes: half })
    expect(last().sent).toEqual([])
    workOff()
    expect(last().sent).toEqual([{ type: 'ack', bytes: terminalFlow.ackBytes }])
    last().say({ type: 'data', seq: 2 * half.length, bytes: new Uint8Array(terminalFlow.ackBytes) })
    last().end(lost)
    await vi.advanceTimersByTimeAsync(250)
    workOff()
    expect(last().sent).toEqual([])
  })

  it('waits longer from attempt to attempt, and while the server cannot be reached', async () => {
    const { last, sockets, onRetry, connection } = setUp()
    for (let attempt = 0; attempt < 12; attempt += 1) {
      last().end(lost)
      await vi.advanceTimersByTimeAsync(8_000)
    }
    expect(sockets).toHaveLength(13)
    last().end(lost)
    await vi.advanceTimersByTimeAsync(3_999)
    expect(sockets).toHaveLength(13)
    onRetry(() => Promise.reject(new Error('away')))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(sockets).toHaveLength(13)
    connection.reconnect()
    expect(sockets).toHaveLength(14)
  })

  it('is not tried again where the server does not want it, or where it has ended', async () => {
    for (const code of [socketCloseCodes.gone, socketCloseCodes.forbidden, socketCloseCodes.signedOut]) {
      const { last, sockets, statuses } = setUp()
      last().end(code, 'no')
      await vi.advanceTimersByTimeAsync(60_000)
      expect(statuses.at(-1)).toEqual({ state: 'refused', code, reason: 'no' })
      expect(sockets).toHaveLength(1)
    }
    const { last, sockets, statuses } = setUp()
    const exit = { exitCode: 3, signal: null, reason: null }
    last().say({ type: 'exit', ...exit })
    last().end(socketCloseCodes.done)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(statuses.at(-1)).toEqual({ state: 'exited', exit })
    expect(sockets).toHaveLength(1)
  })

  it('[TERM12] only the writer types and sets the size; a paste goes in messages the server takes', () => {
    const { connection, last } = setUp()
    connection.fit({ cols: 100, rows: 30 })
    expect(connection.type('too early')).toBe(false)
    last().say({ type: 'resize', cols: 80, rows: 24 })
    last().say({ type: 'role', role: 'viewer', viewers: 2 })
    expect(connection.type('not mine')).toBe(false)
    expect(last().sent).toEqual([])
    connection.takeOver()
    last().say({ ...writer, viewers: 2 })
    expect(connection.type('x'.repeat(70_000))).toBe(true)
    expect(last().sent.map((message) => (message.type === 'input' ? message.bytes.length : message))).toEqual(
      [{ type: 'role', role: 'writer' }, { type: 'resize', cols: 100, rows: 30 }, 65_536, 4_464],
    )
  })

  it('[TERM11] a size reaches the display in its place in the output, and is not sent back', () => {
    const { connection, last, sizes, shown } = setUp()
    last().say({ type: 'resize', cols: 80, rows: 24 })
    last().say(writer)
    connection.fit({ cols: 80, rows: 24 })
    last().say({ type: 'title', title: 'vim' })
    expect(last().sent).toEqual([])
    expect(sizes).toEqual([{ cols: 80, rows: 24 }])
    expect(shown).toEqual(['title vim'])
  })

  it('[TERM6] a message that is none ends the connection, and says so', () => {
    const { statuses, last } = setUp()
    last().sayBytes(new Uint8Array([99]))
    expect(last().closed).toBe(true)
    expect(statuses.at(-1)).toMatchObject({ state: 'refused', code: socketCloseCodes.policyViolation })
  })
})
