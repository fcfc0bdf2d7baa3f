import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createTerminalRecorder } from './terminal-recorder.ts'
import { wholeCharacters } from './utf8.ts'

it('[TERM7, TERM16] the last bytes are kept exactly, in bounded memory, whatever is written', () => {
  const pieces = fc.array(
    fc.uint8Array({ maxLength: 3000 }).map((bytes) => bytes.map((byte) => byte & 0x7f)),
    {
      maxLength: 30,
    },
  )
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 40_000 }), fc.nat(), (written, capacity, choice) => {
      const recorder = createTerminalRecorder({ capacity })
      for (const piece of written) recorder.append(piece)
      const all = Buffer.concat(written)
      expect(recorder.end()).toBe(all.length)
      expect(recorder.end() - recorder.start()).toBeLessThanOrEqual(Math.max(capacity, 0))
      expect(recorder.end() - recorder.start()).toBeGreaterThanOrEqual(Math.min(all.length, capacity))
      const position = recorder.start() + (choice % (recorder.end() - recorder.start() + 1))
      expect(Buffer.from(recorder.read(position, 1e9)).equals(all.subarray(position))).toBe(true)
      expect(Buffer.from(recorder.read(position, 10)).equals(all.subarray(position, position + 10))).toBe(
        true,
      )
    }),
  )
})

it('[TERM9] what is read in parts is never cut inside a character', () => {
  const recorder = createTerminalRecorder({ capacity: 1000 })
  const text = 'aé漢😀'.repeat(30)
  recorder.append(new TextEncoder().encode(text))
  for (const limit of [4, 5, 6, 7, 11]) {
    let read = ''
    for (let position = 0; position < recorder.end(); ) {
      const part = recorder.read(position, limit)
      read += new TextDecoder('utf-8', { fatal: true }).decode(part)
      position += part.length
    }
    expect(read).toBe(text)
  }
})

it('what is not kept cannot be read', () => {
  const recorder = createTerminalRecorder({ capacity: 10 })
  recorder.append(new Uint8Array(25))
  expect(recorder.start()).toBe(15)
  expect(() => recorder.read(14, 1)).toThrow(RangeError)
  expect(() => recorder.read(26, 1)).toThrow(RangeError)
})

it('[TERM9] bytes are whole up to the last character that is', () => {
  const encode = (text: string) => new TextEncoder().encode(text)
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), fc.nat({ max: 60 }), (text, cut) => {
      const bytes = encode(text)
      const part = bytes.subarray(0, Math.min(cut, bytes.length))
      const whole = wholeCharacters(part)
      expect(part.length - whole).toBeLessThan(4)
      expect(() => new TextDecoder('utf-8', { fatal: true }).decode(part.subarray(0, whole))).not.toThrow()
    }),
  )
  expect(wholeCharacters(Uint8Array.of(0x61, 0xff))).toBe(2)
  expect(wholeCharacters(Uint8Array.of(0x80, 0x80, 0x80, 0x80))).toBe(4)
})
