import { z } from 'zod'

/**
 * Messages of a terminal's socket. Each is one binary WebSocket message: a type byte, then the fields in the order
 * below. Integers are unsigned and big-endian.
 *
 * | type | from | fields |
 * |---|---|---|
 * | 1 data | server | u64 seq of the first byte, bytes |
 * | 2 input | client | bytes |
 * | 3 resize | both | u16 columns, u16 rows |
 * | 4 ack | client | u32 bytes |
 * | 5 snapshot | server | u64 seq, u16 columns, u16 rows, bytes |
 * | 6 exit | server | JSON TerminalExit |
 * | 7 role | both | u8 role (0 viewer, 1 writer); from the server also u16 viewers |
 * | 8 title | server | UTF-8 |
 * | 9 error | server | JSON TerminalError |
 *
 * `seq` counts the bytes of output since the terminal was opened. What a client has after a `data` message is
 * `seq + bytes`, after a `snapshot` it is `seq`; it names that number when it connects again. A snapshot replaces the
 * screen: reset, take its size, write its bytes.
 */
export const terminalFrameTypes = {
  data: 1,
  input: 2,
  resize: 3,
  ack: 4,
  snapshot: 5,
  exit: 6,
  role: 7,
  title: 8,
  error: 9,
} as const

export const maxTerminalColumns = 1000
export const maxTerminalRows = 1000

/** Bytes of one `input` message; a larger paste goes in several. */
export const maxTerminalInputBytes = 64 * 1024

/** How far the server runs ahead of a client's acknowledgements, in bytes of `data` and `snapshot` messages. */
export const terminalFlow = {
  /** with more unacknowledged, the server sends nothing */
  highBytes: 1024 * 1024,
  /** with less again, it goes on: where it stopped if that is near, else with a snapshot */
  lowBytes: 256 * 1024,
  /** output kept for those who come back: a larger gap is bridged by a snapshot */
  tailBytes: 256 * 1024,
  /** a client acknowledges at least this often */
  ackBytes: 64 * 1024,
} as const

export const TerminalExit = z.object({
  exitCode: z.number().int().nullable(),
  signal: z.string().max(20).nullable().describe('name of the signal that ended it'),
  reason: z
    .string()
    .max(500)
    .nullable()
    .describe('why the server ended it; null: its program ended by itself'),
})
export type TerminalExit = z.infer<typeof TerminalExit>

export const TerminalError = z.object({
  /** `read-only`: what was typed was not taken, because another connection is the writer */
  code: z.enum(['read-only']),
  message: z.string().max(500),
})
export type TerminalError = z.infer<typeof TerminalError>

/** The writer types and sets the size; viewers look on. */
export type TerminalRole = 'viewer' | 'writer'

export type TerminalClientMessage =
  | { type: 'input'; bytes: Uint8Array }
  | { type: 'resize'; cols: number; rows: number }
  /** bytes of `data` and `snapshot` that have been worked off since the last acknowledgement */
  | { type: 'ack'; bytes: number }
  /** asks to become the writer, or to cease to be it */
  | { type: 'role'; role: TerminalRole }

export type TerminalServerMessage =
  | { type: 'data'; seq: number; bytes: Uint8Array }
  | { type: 'snapshot'; seq: number; cols: number; rows: number; bytes: Uint8Array }
  /** the writer has changed the size */
  | { type: 'resize'; cols: number; rows: number }
  /** the role of this connection, and how many look */
  | { type: 'role'; role: TerminalRole; viewers: number }
  | { type: 'title'; title: string }
  /** the last message, after the last byte of output */
  | ({ type: 'exit' } & TerminalExit)
  | ({ type: 'error' } & TerminalError)

/** Bytes that are no message. */
export class TerminalFrameError extends Error {
  override name = 'TerminalFrameError'
}

/** Bytes before the output in a `data` message. */
export const dataHeaderBytes = 9

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

export function encodeTerminalClientMessage(message: TerminalClientMessage): Uint8Array {
  switch (message.type) {
    case 'input':
      return frame('input', 0, message.bytes).bytes
    case 'resize':
      return sizeFrame(message)
    case 'ack': {
      const { bytes, view } = frame('ack', 4)
      view.setUint32(1, message.bytes)
      return bytes
    }
    case 'role':
      return roleFrame(message.role, 1).bytes
  }
}

export function encodeTerminalServerMessage(message: TerminalServerMessage): Uint8Array {
  switch (message.type) {
    case 'data': {
      const { bytes, view } = frame('data', 8, message.bytes)
      setSeq(view, message.seq)
      return bytes
    }
    case 'snapshot': {
      const { bytes, view } = frame('snapshot', 12, message.bytes)
      setSeq(view, message.seq)
      setSize(view, 9, message)
      return bytes
    }
    case 'resize':
      return sizeFrame(message)
    case 'role': {
      const { bytes, view } = roleFrame(message.role, 3)
      view.setUint16(2, Math.min(message.viewers, 0xffff))
      return bytes
    }
    case 'title':
      return frame('title', 0, encoder.encode(message.title)).bytes
    case 'exit':
    case 'error': {
      const { type, ...fields } = message
      return frame(type, 0, encoder.encode(JSON.stringify(fields))).bytes
    }
  }
}

/** Throws TerminalFrameError for what no client may send. `bytes` of the result is a view of the argument. */
export function decodeTerminalClientMessage(bytes: Uint8Array): TerminalClientMessage {
  const { type, view } = open(bytes)
  switch (type) {
    case terminalFrameTypes.input:
      return { type: 'input', bytes: bytes.subarray(1) }
    case terminalFrameTypes.resize:
      return { type: 'resize', ...readSize(exactly(view, 5), 1) }
    case terminalFrameTypes.ack:
      return { type: 'ack', bytes: exactly(view, 5).getUint32(1) }
    case terminalFrameTypes.role:
      return { type: 'role', role: readRole(exactly(view, 2)) }
    default:
      throw new TerminalFrameError(`no message from a client has type ${type}`)
  }
}

/** Throws TerminalFrameError for what no server sends. `bytes` of the result is a view of the argument. */
export function decodeTerminalServerMessage(bytes: Uint8Array): TerminalServerMessage {
  const { type, view } = open(bytes)
  switch (type) {
    case terminalFrameTypes.data:
      return { type: 'data', seq: readSeq(view, dataHeaderBytes), bytes: bytes.subarray(dataHeaderBytes) }
    case terminalFrameTypes.snapshot:
      return {
        type: 'snapshot',
        seq: readSeq(view, 13),
        ...readSize(view, 9),
        bytes: bytes.subarray(13),
      }
    case terminalFrameTypes.resize:
      return { type: 'resize', ...readSize(exactly(view, 5), 1) }
    case terminalFrameTypes.role:
      return { type: 'role', role: readRole(exactly(view, 4)), viewers: view.getUint16(2) }
    case terminalFrameTypes.title:
      return { type: 'title', title: readText(bytes) }
    case terminalFrameTypes.exit:
      return { type: 'exit', ...readJson(TerminalExit, bytes) }
    case terminalFrameTypes.error:
      return { type: 'error', ...readJson(TerminalError, bytes) }
    default:
      throw new TerminalFrameError(`no message from a server has type ${type}`)
  }
}

/** Room for the type, `fieldBytes` of fields and a copy of `payload`. */
function frame(
  type: keyof typeof terminalFrameTypes,
  fieldBytes: number,
  payload?: Uint8Array,
): { bytes: Uint8Array; view: DataView } {
  const bytes = new Uint8Array(1 + fieldBytes + (payload?.length ?? 0))
  bytes[0] = terminalFrameTypes[type]
  if (payload) bytes.set(payload, 1 + fieldBytes)
  return { bytes, view: new DataView(bytes.buffer) }
}

function sizeFrame(size: { cols: number; rows: number }): Uint8Array {
  const { bytes, view } = frame('resize', 4)
  setSize(view, 1, size)
  return bytes
}

function roleFrame(role: TerminalRole, fieldBytes: number): { bytes: Uint8Array; view: DataView } {
  const made = frame('role', fieldBytes)
  made.view.setUint8(1, role === 'writer' ? 1 : 0)
  return made
}

function setSize(view: DataView, offset: number, { cols, rows }: { cols: number; rows: number }): void {
  view.setUint16(offset, cols)
  view.setUint16(offset + 2, rows)
}

const highWord = 2 ** 32

/** As two words: JavaScript counts exactly up to 2^53, which is 285 years at a megabyte a second. */
function setSeq(view: DataView, seq: number): void {
  view.setUint32(1, Math.floor(seq / highWord))
  view.setUint32(5, seq % highWord)
}

function readSeq(view: DataView, leastBytes: number): number {
  if (view.byteLength < leastBytes) throw new TerminalFrameError('a message that is cut')
  const seq = view.getUint32(1) * highWord + view.getUint32(5)
  if (!Number.isSafeInteger(seq)) throw new TerminalFrameError('a seq beyond 2^53')
  return seq
}

function readSize(view: DataView, offset: number): { cols: number; rows: number } {
  const cols = view.getUint16(offset)
  const rows = view.getUint16(offset + 2)
  if (cols < 1 || cols > maxTerminalColumns || rows < 1 || rows > maxTerminalRows)
    throw new TerminalFrameError(`no terminal has ${cols} columns and ${rows} rows`)
  return { cols, rows }
}

function readRole(view: DataView): TerminalRole {
  const role = view.getUint8(1)
  if (role > 1) throw new TerminalFrameError(`no role has the number ${role}`)
  return role === 1 ? 'writer' : 'viewer'
}

function open(bytes: Uint8Array): { type: number; view: DataView } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.byteLength === 0) throw new TerminalFrameError('an empty message')
  return { type: view.getUint8(0), view }
}

function exactly(view: DataView, byteLength: number): DataView {
  if (view.byteLength !== byteLength)
    throw new TerminalFrameError(`${view.byteLength} bytes where ${byteLength} belong`)
  return view
}

function readText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes.subarray(1))
  } catch (cause) {
    throw new TerminalFrameError('text that is not UTF-8', { cause })
  }
}

function readJson<Schema extends z.ZodType>(schema: Schema, bytes: Uint8Array): z.output<Schema> {
  let value: unknown
  try {
    value = JSON.parse(readText(bytes))
  } catch (cause) {
    throw new TerminalFrameError('fields that are not JSON', { cause })
  }
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw new TerminalFrameError('fields that do not fit')
  return parsed.data
}
