import { characterAt } from './utf8.ts'

/**
 * Programs ask terminals questions in their output (what are you, where is the cursor, which colours). Everyone who
 * gets that output would answer, and the answers would be typed into the program: once for each viewer, and once more
 * for each replay. Only the server's screen model answers; in what viewers get, every question is made void.
 *
 * The output keeps its length, so positions in it mean the same for everybody: the last byte of a question becomes CAN,
 * which ends a sequence without effect, and the `?` that asks for a colour or the clipboard becomes a space.
 *
 * States and transitions are those of DEC's parser (vt100.net/emu/dec_ansi_parser) as xterm.js has them, C1 controls in
 * UTF-8 included.
 */
export interface QuerySilencer {
  /** Changes `bytes` in place. They must not end inside a UTF-8 character. */
  silence(bytes: Uint8Array): void
  /** The sequence that the bytes so far end in the middle of: a parser that starts here needs it first. */
  pending(): Uint8Array
}

type State =
  | 'ground'
  | 'escape'
  | 'escape-intermediate'
  | 'csi-entry'
  | 'csi-parameter'
  | 'csi-intermediate'
  | 'csi-ignore'
  | 'osc'
  | 'dcs-entry'
  | 'dcs-parameter'
  | 'dcs-intermediate'
  | 'dcs-ignore'
  | 'dcs-data'
  | 'other-string'

const ESC = 0x1b
const CAN = 0x18
const SUB = 0x1a
const ENQ = 0x05
const BEL = 0x07
const DEL = 0x7f
const SPACE = 0x20

/** Bytes kept of a sequence that is not complete; of a longer one, only what makes the rest of it void. */
const maxPendingBytes = 256

/** What stands for the beginning of a sequence that is too long to keep: its rest is then ignored. */
function voidBeginning(state: State): string {
  if (state === 'osc') return '\x1b]9999;'
  if (state === 'other-string') return '\x1bX'
  if (state === 'dcs-data') return '\x1bP~'
  if (state.startsWith('dcs')) return '\x1bP0<'
  return state.startsWith('csi') ? '\x1b[0<' : '\x1b '
}

/** OSC sequences whose arguments are colours, fonts or the clipboard: there a `?` asks. */
const askingOsc = new Set([4, 5, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 50, 52, 60])

/** CSI sequences that ask, as prefix, intermediates and last character. */
const askingCsi = new Set('c >c =c ?c n ?n $p ?$p >q ?u ?S ?m x *y $w "v'.split(' '))

/** First parameters of `CSI … t` that ask for a window's state, size or title. */
const askingWindow = new Set([11, 13, 14, 15, 16, 18, 19, 20, 21])

export function createQuerySilencer(): QuerySilencer {
  let state: State = 'ground'
  /** prefix and intermediates of a CSI or DCS sequence */
  let collected = ''
  /** the first parameter of a CSI sequence, the number of an OSC; -1 once it cannot be one */
  let number = 0
  let inNumber = false
  const held: number[] = []

  function begin(next: State): void {
    state = next
    collected = ''
    number = 0
    inNumber = true
  }

  /** Takes one ASCII character; returns what viewers get in its place. */
  function ascii(byte: number): number {
    if (byte === CAN || byte === SUB) state = 'ground'
    else if (byte === ESC) begin('escape')
    else if (state === 'osc') return inOsc(byte)
    else if (state.startsWith('dcs')) return inDcs(byte)
    else if (state === 'other-string') return byte
    else if (byte < SPACE) return byte === ENQ ? 0 : byte
    else if (byte === DEL) return byte
    else if (state === 'escape' || state === 'escape-intermediate') return inEscape(byte)
    else if (state !== 'ground') return inCsi(byte)
    return byte
  }

  function inEscape(byte: number): number {
    if (byte < 0x30) state = 'escape-intermediate'
    else if (state === 'escape-intermediate') state = 'ground'
    else if (byte === 0x5b) begin('csi-entry')
    else if (byte === 0x5d) begin('osc')
    else if (byte === 0x50) begin('dcs-entry')
    else if (byte === 0x58 || byte === 0x5e || byte === 0x5f) begin('other-string')
    else {
      state = 'ground'
      // DECID: an old way to ask what the terminal is.
      if (byte === 0x5a) return CAN
    }
    return byte
  }

  function inCsi(byte: number): number {
    if (byte >= 0x40) {
      const asks = state !== 'csi-ignore' && asksCsi(byte)
      state = 'ground'
      return asks ? CAN : byte
    }
    state = parameters('csi', byte)
    return byte
  }

  function asksCsi(final: number): boolean {
    const character = String.fromCharCode(final)
    if (character === 't' && collected === '') return askingWindow.has(number)
    return askingCsi.has(collected + character)
  }

  function inDcs(byte: number): number {
    if (state === 'dcs-data' || state === 'dcs-ignore' || byte < SPACE || byte === DEL) return byte
    if (byte < 0x40) {
      state = parameters('dcs', byte)
      return byte
    }
    state = 'dcs-data'
    // DECRQSS and XTGETTCAP. Nothing has the name `~`: what follows is swallowed as before.
    return byte === 0x71 && /[$+]/.test(collected) ? 0x7e : byte
  }

  /** The next state of a CSI or DCS sequence after a prefix, parameter or intermediate. */
  function parameters(kind: 'csi' | 'dcs', byte: number): State {
    const entry = state === `${kind}-entry`
    if (state === 'csi-ignore') return state
    if (byte < 0x30) {
      collected += collected.length < 4 ? String.fromCharCode(byte) : ''
      return `${kind}-intermediate`
    }
    if (state === `${kind}-intermediate`) return `${kind}-ignore`
    if (byte >= 0x3c) {
      if (!entry) return `${kind}-ignore`
      collected = String.fromCharCode(byte)
    } else if (byte >= 0x3a) inNumber = false
    else if (inNumber) number = Math.min(number * 10 + byte - 0x30, 99_999)
    return `${kind}-parameter`
  }

  function inOsc(byte: number): number {
    if (byte === BEL) state = 'ground'
    if (byte < SPACE) return byte
    if (!inNumber) return byte === 0x3f && askingOsc.has(number) ? SPACE : byte
    if (byte === 0x3b) inNumber = false
    else if (byte < 0x30 || byte > 0x39) {
      inNumber = false
      number = -1
    } else number = Math.min(number * 10 + byte - 0x30, 99_999)
    return byte
  }

  /** Takes a character beyond ASCII; U+0080 to U+009F are controls. */
  function beyondAscii(code: number): void {
    if (code === 0x9b) begin('csi-entry')
    else if (code === 0x9d) begin('osc')
    else if (code === 0x90) begin('dcs-entry')
    else if (code === 0x98 || code === 0x9e || code === 0x9f) begin('other-string')
    else if (code < 0xa0) state = 'ground'
    else if (state === 'osc') {
      if (inNumber) number = -1
      inNumber = false
    } else if (state !== 'csi-ignore' && state !== 'dcs-ignore' && state !== 'dcs-data') state = 'ground'
  }

  function hold(bytes: Uint8Array, start: number, end: number): void {
    if (state === 'ground') held.length = 0
    if (state === 'ground' || held.length > maxPendingBytes) return
    for (let index = start; index < end; index += 1) held.push(bytes[index] ?? 0)
  }

  return {
    silence(bytes) {
      let index = 0
      for (;;) {
        if (state === 'ground') index = passHarmless(bytes, index)
        const byte = bytes[index]
        if (byte === undefined) return
        const start = index
        if (byte < 0x80) {
          if (byte === ESC) held.length = 0
          const shown = ascii(byte)
          if (shown !== byte) bytes[index] = shown
          index += 1
          // A control inside a sequence takes effect at once, and only once.
          if (byte >= SPACE || byte === ESC || isString(state)) hold(bytes, start, index)
          continue
        }
        const { size, code } = characterAt(bytes, index)
        index += size
        if (code === undefined) continue
        if (code < 0xa0) held.length = 0
        beyondAscii(code)
        hold(bytes, start, index)
      }
    },
    pending() {
      if (state === 'ground') return new Uint8Array(0)
      if (held.length <= maxPendingBytes) return Uint8Array.from(held)
      return new TextEncoder().encode(voidBeginning(state))
    },
  }
}

function isString(state: State): boolean {
  return state === 'osc' || state === 'other-string' || state.startsWith('dcs')
}

/** Bytes that can begin something in ordinary text: ESC, ENQ, and the first of a C1 control. */
const interesting = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === ESC || byte === ENQ || byte === 0xc2 ? 1 : 0,
)

/**
 * Passes over text and whole sequences of the form `CSI numbers letter` that ask nothing: colours and cursor moves, which
 * are most of what there is. Returns where something else begins.
 */
function passHarmless(bytes: Uint8Array, from: number): number {
  let index = from
  for (;;) {
    while (index < bytes.length && interesting[bytes[index] as number] === 0) index += 1
    if (bytes[index] !== ESC || bytes[index + 1] !== 0x5b) return index
    let end = index + 2
    while ((bytes[end] as number) >= 0x30 && (bytes[end] as number) <= 0x3b) end += 1
    if (harmlessFinal[bytes[end] as number] !== 1) return index
    index = end + 1
  }
}

/** Last bytes of `CSI numbers letter` that never ask. */
const harmlessFinal = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x40 && byte <= 0x7e && !'cntx'.includes(String.fromCharCode(byte)) ? 1 : 0,
)
