import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFrameDecoder, encodeFrame, FrameError, frameLimits } from './agent-frame.ts'

function bytesOf(header: unknown, payload?: Uint8Array): Uint8Array {
  const frame = encodeFrame(header, payload)
  return Buffer.concat([frame.head, frame.payload])
}

/** A frame's prefix with any lengths. */
function prefix(rest: number, header: number): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32BE(rest, 0)
  bytes.writeUInt32BE(header, 4)
  return bytes
}

describe('frames', () => {
  it('[AGT1] arrive whole and in order however the stream is cut', () => {
    const frames = fc.array(
      fc.record({
        header: fc.dictionary(fc.string(), fc.jsonValue()),
        payload: fc.uint8Array({ maxLength: 300 }),
      }),
      {
        maxLength: 8,
      },
    )
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (sent, cuts) => {
        const stream = Buffer.concat(sent.map(({ header, payload }) => bytesOf(header, payload)))
        const decoder = createFrameDecoder()
        const got = []
        for (let offset = 0, turn = 0; offset < stream.length; turn += 1) {
          const length = cuts[turn % cuts.length] ?? 1
          got.push(...decoder.push(stream.subarray(offset, offset + length)))
          offset += length
        }
        expect(got.map(({ header, payload }) => ({ header, payload: [...payload] }))).toEqual(
          sent.map(({ header, payload }) => ({
            header: JSON.parse(JSON.stringify(header)),
            payload: [...payload],
          })),
        )
        expect(decoder.pending()).toBe(0)
      }),
    )
  })

  it('[AGT1] that come a byte at a time take no more memory than one frame', () => {
    const payload = new Uint8Array(200_000).fill(7)
    const stream = bytesOf({ t: 'x' }, payload)
    const decoder = createFrameDecoder()
    const got = []
    for (let index = 0; index < stream.length; index += 1)
      got.push(...decoder.push(stream.subarray(index, index + 1)))
    expect(got).toHaveLength(1)
    expect(Buffer.from(got[0]?.payload ?? []).equals(Buffer.from(payload))).toBe(true)
    // One buffer of its own, not a chain of pieces.
    expect(got[0]?.payload.buffer.byteLength).toBeLessThan(stream.length)
  })

  it.each([
    ['a header over its limit', prefix(8 + frameLimits.header, frameLimits.header + 1)],
    ['a payload over its limit', prefix(4 + 2 + frameLimits.payload + 1, 2)],
    ['a header longer than the frame', prefix(6, 100)],
    ['an empty header', prefix(4, 0)],
    ['four gigabytes', prefix(0xffffffff, 0xffffffff)],
  ])('[AGT1] %s is refused from its first eight bytes', (_name, bytes) => {
    expect(() => createFrameDecoder().push(bytes)).toThrow(FrameError)
  })

  it.each([
    ['not JSON', Buffer.from('nonsense')],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22])],
  ])('[AGT1] a header that is %s is refused', (_name, header) => {
    const bytes = Buffer.concat([prefix(4 + header.length, header.length), header])
    expect(() => createFrameDecoder().push(bytes)).toThrow(FrameError)
  })

  it('[AGT1] what is too large is not sent either', () => {
    expect(() => encodeFrame({ text: 'x'.repeat(frameLimits.header) })).toThrow(FrameError)
    expect(() => encodeFrame({}, new Uint8Array(frameLimits.payload + 1))).toThrow(FrameError)
  })
})
