import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createQuerySilencer } from './query-silencer.ts'
import { loadXterm } from './xterm.ts'

const { Terminal } = loadXterm()

/** What a terminal emulator shows and what it would type by itself, after output in these pieces. */
async function emulate(pieces: Uint8Array[]): Promise<{ screen: string[]; typed: string }> {
  const terminal = new Terminal({
    cols: 20,
    rows: 6,
    scrollback: 50,
    allowProposedApi: true,
    logLevel: 'off',
  })
  let typed = ''
  terminal.onData((text) => {
    typed += text
  })
  for (const piece of pieces) await new Promise<void>((resolve) => terminal.write(piece, resolve))
  const buffer = terminal.buffer.active
  const lines = Array.from({ length: buffer.length }, (_, row) =>
    buffer.getLine(row)?.translateToString(true),
  )
  const screen = [...lines.map(String), `cursor ${buffer.cursorX} ${buffer.cursorY} ${buffer.type}`]
  terminal.dispose()
  return { screen, typed }
}

function silenced(pieces: Uint8Array[]): Uint8Array[] {
  const silencer = createQuerySilencer()
  return pieces.map((piece) => {
    const copy = Uint8Array.from(piece)
    silencer.silence(copy)
    return copy
  })
}

const bytes = (text: string) => new TextEncoder().encode(text)

it.each([
  ['device attributes', '\x1b[c'],
  ['device attributes, 0', '\x1b[0c'],
  ['secondary device attributes', '\x1b[>c'],
  ['status', '\x1b[5n'],
  ['cursor position', '\x1b[6n'],
  ['cursor position, DEC', '\x1b[?6n'],
  ['a mode', '\x1b[?25$p'],
  ['a setting', '\x1bP$qm\x1b\\'],
  ['the same in C1', '\u009b6n'],
  ['a control inside', '\x1b[\n6n'],
  ['a broken character inside', '\x1b[\ufeff6n'],
])('[TERM8] %s: the program asks, a viewer does not answer', async (_what, question) => {
  const pieces = [bytes('before'), bytes(question), bytes('after')]
  expect((await emulate(pieces)).typed).not.toBe('')
  const viewed = await emulate(silenced(pieces))
  expect(viewed.typed).toBe('')
  expect(viewed.screen).toEqual((await emulate(pieces)).screen)
})

it('[TERM8] bytes that are no character do not hide a question', async () => {
  const pieces = [Uint8Array.of(0x1b, 0x5b, 0xe2, 0x36, 0x6e), Uint8Array.of(0x1b, 0x5b, 0x80, 0x63)]
  expect((await emulate(pieces)).typed).not.toBe('')
  expect((await emulate(silenced(pieces))).typed).toBe('')
})

it('[TERM8] colours and the clipboard cannot be asked for; setting them, titles and links stay', () => {
  const shown = (text: string) => new TextDecoder().decode(silenced([bytes(text)])[0])
  expect(shown('\x1b]11;?\x07')).toBe('\x1b]11; \x07')
  expect(shown('\x1b]4;1;?;2;#fff\x1b\\')).toBe('\x1b]4;1; ;2;#fff\x1b\\')
  expect(shown('\x1b]52;c;?\x07')).toBe('\x1b]52;c; \x07')
  expect(shown('\x05')).toBe('\0')
  expect(shown('\x1bZ')).toBe('\x1b\x18')
  for (const kept of [
    '\x1b]0;what?\x07',
    '\x1b]8;;https://example.org/?q\x1b\\',
    '\x1b]11;#000\x07',
    '\x1b[31m?\x1b[0m',
    '\x1b[8;24;80t',
    '\x1b[4 q',
    '\x1b[?25h',
  ]) {
    expect(shown(kept)).toBe(kept)
  }
})

const pieceOfOutput = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('\x1b[', '\x1b]', '\x1bP', '\x1b', '\u009b', '\u009d', '\u0090', '\x1b\\'),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom('6n', 'c', '5n', '$p', '?25$p', '$qm', '>c', '18t', '?6n', '1;2H', 'm'),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('0', '1', ';', ':', '?', '>', '$', ' ', '+', '!', '<', 'q', 't', 'X', '_'),
  },
  { weight: 2, arbitrary: fc.constantFrom('\n', '\r', '\x05', '\x07', '\x18', '\x1a', '\x7f', '\t', '\b') },
  { weight: 2, arbitrary: fc.constantFrom('a', 'é', '漢', '😀', '\ufeff', '\u0085', '\u009c') },
)
const anyOutput = fc.oneof(
  { weight: 5, arbitrary: fc.array(pieceOfOutput, { maxLength: 25 }).map((parts) => bytes(parts.join(''))) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 30 }) },
)

it('[TERM8] whatever a program prints, no viewer answers, and all see what it printed', async () => {
  await fc.assert(
    fc.asyncProperty(anyOutput, async (output) => {
      const viewed = await emulate(silenced([output]))
      expect(viewed.typed).toBe('')
      expect(viewed.screen).toEqual((await emulate([output])).screen)
    }),
    { numRuns: 400 },
  )
})

it('[TERM8] it makes no difference where the output is cut', () => {
  fc.assert(
    fc.property(fc.array(pieceOfOutput, { maxLength: 40 }), (parts) => {
      const whole = silenced([bytes(parts.join(''))])
      const cut = silenced(parts.map(bytes))
      expect(Buffer.concat(cut).toString('hex')).toBe(Buffer.concat(whole).toString('hex'))
    }),
  )
})

it('[TERM7] who starts in the middle of a sequence, given its beginning, goes on as one that saw it', () => {
  fc.assert(
    fc.property(fc.array(pieceOfOutput, { maxLength: 12 }), anyOutput, (before, after) => {
      const silencer = createQuerySilencer()
      silencer.silence(bytes(before.join('')))
      const beginning = silencer.pending()
      const shown = Uint8Array.from(after)
      silencer.silence(shown)
      const late = silenced([Buffer.concat([beginning, after])])[0]
      expect(late?.subarray(beginning.length)).toEqual(shown)
    }),
  )
})
