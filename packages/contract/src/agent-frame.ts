/**
 * Frames of the agent protocol, as both ends write and read them.
 *
 *     u32 length of what follows | u32 length of the header | header: JSON, UTF-8 | payload: bytes
 *
 * Integers are big-endian. A payload travels as it is, so terminal output and file contents are never base64.
 */

/** One frame's limits in bytes. A listing or a batch is cut to fit the header; contents are cut into payloads. */
export const frameLimits = { header: 1024 * 1024, payload: 1024 * 1024 } as const

const prefixBytes = 8

export interface Frame {
  header: unknown
  payload: Uint8Array
  /** size of the JSON header, which is what an event costs in flow control */
  headerBytes: number
}

/** The peer does not speak the protocol; the connection cannot be used any more. */
export class FrameError extends Error {
  override name = 'FrameError'
}

const emptyPayload = new Uint8Array(0)
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The parts of one frame, to be written in this order; the payload is passed on without a copy.
 * Throws FrameError when a part is over its limit.
 */
export function encodeFrame(header: unknown, payload: Uint8Array = emptyPayload): EncodedFrame {
  const json = encoder.encode(JSON.stringify(header))
  if (json.length > frameLimits.header)
    throw new FrameError(`header of ${json.length} bytes is over the limit`)
  if (payload.length > frameLimits.payload)
    throw new FrameError(`payload of ${payload.length} bytes is over the limit`)
  const head = new Uint8Array(prefixBytes + json.length)
  const view = new DataView(head.buffer)
  view.setUint32(0, 4 + json.length + payload.length)
  view.setUint32(4, json.length)
  head.set(json, prefixBytes)
  return { head, payload, headerBytes: json.length }
}

export interface EncodedFrame {
  head: Uint8Array
  payload: Uint8Array
  headerBytes: number
}

export interface FrameDecoder {
  /**
   * Takes what the stream delivered and returns the frames that are now complete; a frame that came in one piece is
   * not copied. Holds at most one frame's limit, however small the pieces. Throws FrameError on a length over the
   * limit or a header that is not JSON.
   */
  push(bytes: Uint8Array): Frame[]
  /** bytes of a frame that has not come whole: not 0 at the end of a stream means it was cut */
  pending(): number
}

interface Lengths {
  header: number
  /** header and payload */
  body: number
}

export function createFrameDecoder(): FrameDecoder {
  const prefix = new Uint8Array(prefixBytes)
  let prefixHeld = 0
  let lengths: Lengths | undefined
  let body: Uint8Array | undefined
  let bodyHeld = 0

  /** Fills the prefix; returns what is left of the bytes. */
  function takePrefix(bytes: Uint8Array): Uint8Array {
    const part = bytes.subarray(0, prefixBytes - prefixHeld)
    prefix.set(part, prefixHeld)
    prefixHeld += part.length
    if (prefixHeld === prefixBytes) lengths = checkedLengths(prefix)
    return bytes.subarray(part.length)
  }

  /** Fills the body; returns what is left of the bytes, and the frame once it is whole. */
  function takeBody(bytes: Uint8Array, wanted: Lengths): { rest: Uint8Array; frame?: Frame } {
    if (body === undefined && bytes.length >= wanted.body) {
      reset()
      return {
        rest: bytes.subarray(wanted.body),
        frame: readFrame(bytes.subarray(0, wanted.body), wanted.header),
      }
    }
    body ??= new Uint8Array(wanted.body)
    const part = bytes.subarray(0, wanted.body - bodyHeld)
    body.set(part, bodyHeld)
    bodyHeld += part.length
    const rest = bytes.subarray(part.length)
    if (bodyHeld < wanted.body) return { rest }
    const whole = body
    reset()
    return { rest, frame: readFrame(whole, wanted.header) }
  }

  function reset(): void {
    prefixHeld = 0
    lengths = undefined
    body = undefined
    bodyHeld = 0
  }

  return {
    push(bytes) {
      const frames: Frame[] = []
      let rest = bytes
      while (rest.length > 0) {
        if (lengths === undefined) rest = takePrefix(rest)
        else {
          const taken = takeBody(rest, lengths)
          rest = taken.rest
          if (taken.frame !== undefined) frames.push(taken.frame)
        }
      }
      return frames
    },
    pending: () => prefixHeld + bodyHeld,
  }
}

/** Both lengths are checked before a byte of the body is awaited. */
function checkedLengths(prefix: Uint8Array): Lengths {
  const view = new DataView(prefix.buffer, prefix.byteOffset, prefix.byteLength)
  const rest = view.getUint32(0)
  const header = view.getUint32(4)
  if (header < 2 || header > frameLimits.header)
    throw new FrameError(`header length ${header} is out of range`)
  const payload = rest - 4 - header
  if (payload < 0 || payload > frameLimits.payload)
    throw new FrameError(`frame length ${rest} is out of range`)
  return { header, body: header + payload }
}

function readFrame(body: Uint8Array, headerBytes: number): Frame {
  let header: unknown
  try {
    header = JSON.parse(decoder.decode(body.subarray(0, headerBytes)))
  } catch (cause) {
    throw new FrameError('header is not JSON', { cause })
  }
  return { header, payload: body.subarray(headerBytes), headerBytes }
}
