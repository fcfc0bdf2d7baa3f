import { type Emulator, loadXterm } from './xterm.ts'

/** Lines kept above the screen, as long as they are not too wide. */
export const scrollbackLines = 5_000

/** Cells of 12 bytes kept of one terminal: 1.2 million are 14 MB, whatever the size of the window. */
const maxCells = 1_200_000

/** Characters kept of a title. */
const maxTitleLength = 200

/** Characters of answers to one piece of output: a program that asks a thousand times is not waiting. */
const maxReplyLength = 4_096

export interface ScreenSize {
  cols: number
  rows: number
}

/** A terminal's screen as its output has made it, and the only thing that answers the questions in that output. */
export interface ScreenModel extends Disposable {
  /** `worked` is called when the bytes have been taken in. */
  write(bytes: Uint8Array, worked: () => void): void
  resize(size: ScreenSize): void
  size(): ScreenSize
  /** Output that makes an emulator of the same size show the same, whatever it showed before. */
  snapshot(): string
}

export function createScreenModel(
  options: ScreenSize & { onReply(text: string): void; onTitle(title: string): void },
): ScreenModel {
  const { Terminal, SerializeAddon } = loadXterm()
  const terminal = new Terminal({
    cols: options.cols,
    rows: options.rows,
    scrollback: scrollbackFor(options.cols),
    allowProposedApi: true,
    // What it cannot read is the program's affair, not the server's.
    logLevel: 'off',
  })
  const serializer = new SerializeAddon()
  terminal.loadAddon(serializer)
  let replies = ''
  let title = ''
  let toldTitle = ''
  terminal.onData((text) => {
    if (replies.length + text.length <= maxReplyLength) replies += text
  })
  terminal.onTitleChange((next) => {
    title = printable(next).slice(0, maxTitleLength)
  })

  /** Once for each piece of output, however much of it there is in one. */
  function tell(): void {
    if (replies !== '') options.onReply(replies)
    replies = ''
    if (title !== toldTitle) options.onTitle(title)
    toldTitle = title
  }

  return {
    write(bytes, worked) {
      terminal.write(bytes, () => {
        tell()
        worked()
      })
    },
    resize({ cols, rows }) {
      terminal.options.scrollback = scrollbackFor(cols)
      terminal.resize(cols, rows)
    },
    size: () => ({ cols: terminal.cols, rows: terminal.rows }),
    snapshot: () => `${resetEmulator}${serializer.serialize()}${restoreRest(terminal)}`,
    [Symbol.dispose]: () => terminal.dispose(),
  }
}

/** Ends whatever sequence the emulator is in, and resets it (RIS). */
const resetEmulator = '\x18\x1bc'

function scrollbackFor(cols: number): number {
  return Math.min(scrollbackLines, Math.floor(maxCells / cols))
}

/** Titles go into lists and tabs: no controls. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '')
}

/**
 * State that the serializer leaves out and that has no public name; the version of xterm is pinned, and a test compares
 * the screens. The serializer reaches for the same fields.
 */
interface Internals {
  _core: {
    coreService: {
      isCursorHidden: boolean
      decPrivateModes: { cursorStyle?: 'block' | 'underline' | 'bar'; cursorBlink?: boolean; origin: boolean }
    }
    coreMouseService: { activeEncoding: string }
    _bufferService: { buffer: { scrollTop: number; scrollBottom: number; x: number; y: number } }
    _charsetService: { glevel: number; _charsets: (Record<string, string> | undefined)[] }
  }
}

const mouseEncodings: Record<string, string> = { SGR: '\x1b[?1006h', SGR_PIXELS: '\x1b[?1016h' }
const cursorStyles = { block: 1, underline: 3, bar: 5 } as const

function restoreRest(terminal: Emulator): string {
  const { coreService, coreMouseService, _bufferService, _charsetService } = (
    terminal as unknown as Internals
  )._core
  const { cursorStyle, cursorBlink, origin } = coreService.decPrivateModes
  const { scrollTop, scrollBottom, x, y } = _bufferService.buffer
  const parts: string[] = []
  const region = scrollTop !== 0 || scrollBottom !== terminal.rows - 1
  if (region) parts.push(`\x1b[${scrollTop + 1};${scrollBottom + 1}r`)
  // Both setting a region and the origin mode, which the serializer has just done, move the cursor home.
  if (region || origin)
    parts.push(`\x1b[${y + 1 - (origin ? scrollTop : 0)};${Math.min(x, terminal.cols - 1) + 1}H`)
  parts.push(mouseEncodings[coreMouseService.activeEncoding] ?? '')
  if (cursorStyle) parts.push(`\x1b[${cursorStyles[cursorStyle] + (cursorBlink === false ? 1 : 0)} q`)
  if (coreService.isCursorHidden) parts.push('\x1b[?25l')
  for (const [index, designate] of ['(', ')', '*', '+'].entries())
    if (_charsetService._charsets[index]?.q === '─') parts.push(`\x1b${designate}0`)
  if (_charsetService.glevel === 1) parts.push('\x0e')
  return parts.join('')
}
