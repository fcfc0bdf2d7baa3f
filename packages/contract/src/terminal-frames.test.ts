import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  decodeTerminalClientMessage,
  decodeTerminalServerMessage,
  encodeTerminalClientMessage,
  encodeTerminalServerMessage,
  type TerminalClientMessage,
  TerminalFrameError,
  type TerminalServerMessage,
} from './terminal-frames.ts'

const bytes = fc.uint8Array({ maxLength: 300 })
const size = { cols: fc.integer({ min: 1, max: 1000 }), rows: fc.integer({ min: 1, max: 1000 }) }
const role = fc.constantFrom('viewer' as const, 'writer' as const)
const seq = fc.maxSafeNat()

const clientMessage: fc.Arbitrary<TerminalClientMessage> = fc.oneof(
  fc.record({ type: fc.constant('input' as const), bytes }),
  fc.record({ type: fc.constant('resize' as const), ...size }),
  fc.record({ type: fc.constant('ack' as const), bytes: fc.integer({ min: 0, max: 2 ** 32 - 1 }) }),
  fc.record({ type: fc.constant('role' as const), role }),
)

const serverMessage: fc.Arbitrary<TerminalServerMessage> = fc.oneof(
  fc.record({ type: fc.constant('data' as const), seq, bytes }),
  fc.record({ type: fc.constant('snapshot' as const), seq, ...size, bytes }),
  fc.record({ type: fc.constant('resize' as const), ...size }),
  fc.record({ type: fc.constant('role' as const), role, viewers: fc.integer({ min: 0, max: 0xffff }) }),
  fc.record({ type: fc.constant('title' as const), title: fc.string({ unit: 'grapheme', maxLength: 200 }) }),
  fc.record({
    type: fc.constant('exit' as const),
    exitCode: fc.option(fc.integer({ min: 0, max: 255 })),
    signal: fc.option(fc.constantFrom('SIGKILL', 'SIGHUP')),
    reason: fc.option(fc.string({ maxLength: 100 })),
  }),
  fc.record({
    type: fc.constant('error' as const),
    code: fc.constant('read-only' as const),
    message: fc.string({ maxLength: 100 }),
  }),
)

it('[TERM6] every message arrives as it was sent', () => {
  fc.assert(
    fc.property(clientMessage, (message) => {
      expect(decodeTerminalClientMessage(encodeTerminalClientMessage(message))).toEqual(message)
    }),
  )
  fc.assert(
    fc.property(serverMessage, (message) => {
      expect(decodeTerminalServerMessage(encodeTerminalServerMessage(message))).toEqual(message)
    }),
  )
})

it('[TERM6] a message is found inside a larger buffer', () => {
  fc.assert(
    fc.property(clientMessage, bytes, (message, before) => {
      const frame = encodeTerminalClientMessage(message)
      const larger = new Uint8Array(before.length + frame.length + 3)
      larger.set(frame, before.length)
      const view = larger.subarray(before.length, before.length + frame.length)
      expect(decodeTerminalClientMessage(view)).toEqual(message)
    }),
  )
})

it('[TERM6] whatever a peer sends is a message or a TerminalFrameError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (frame) => {
      for (const decode of [decodeTerminalClientMessage, decodeTerminalServerMessage]) {
        try {
          decode(frame)
        } catch (error) {
          expect(error).toBeInstanceOf(TerminalFrameError)
        }
      }
    }),
    { numRuns: 2000 },
  )
})

it.each([
  ['nothing', []],
  ['an unknown type', [99, 1, 2]],
  ['what only servers send', [1, 0, 0, 0, 0, 0, 0, 0, 0, 65]],
  ['a size that is cut', [3, 0, 80]],
  ['no columns', [3, 0, 0, 0, 24]],
  ['too many rows', [3, 0, 80, 4, 0]],
  ['a size with something behind it', [3, 0, 80, 0, 24, 1]],
  ['an acknowledgement that is cut', [4, 0, 0, 1]],
  ['an unknown role', [7, 2]],
])('[TERM6] a client cannot send %s', (_what, frame) => {
  expect(() => decodeTerminalClientMessage(Uint8Array.from(frame))).toThrow(TerminalFrameError)
})
