import '@xterm/xterm/css/xterm.css'
import { connectTerminal, type TerminalConnection, type TerminalStatus } from '@atelier/client'
import { maxTerminalColumns, maxTerminalRows } from '@atelier/contract'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import type { LineRange } from '../lib/line-range.ts'
import { createStore, type Store } from '../lib/store.ts'
import { copyText } from '../ui/copy-button.tsx'
import type { LinkTarget } from './line-links.ts'
import { createLinkProvider } from './terminal-links.ts'
import type { TerminalSettings } from './terminal-stores.ts'
import { terminalTheme } from './terminal-theme.ts'
import styles from './terminals.module.css'

/** As much as the server keeps. */
const scrollbackLines = 5_000

/** Where the workspace is inside its sandbox: programs print it in front of their files. */
const workspaceRoot = '/home/user/workspace'

const controls = { Escape: '\x1b', Tab: '\t', 'Ctrl-C': '\x03' } as const
const arrows = { ArrowUp: 'A', ArrowDown: 'B', ArrowRight: 'C', ArrowLeft: 'D' } as const
type ControlKey = keyof typeof controls
type ArrowKey = keyof typeof arrows
export type TouchKey = ControlKey | ArrowKey

export interface TerminalSize {
  cols: number
  rows: number
}

/** What the place that shows the terminal does for it. */
export interface TerminalActions {
  resolve(name: string): string | null
  openFile(path: string, lines: LineRange): void
  openUrl(url: string): void
  /** The person leaves the terminal by keyboard. */
  leave(): void
  /** Something the person asked for did not work. */
  report(error: unknown): void
}

export interface LiveTerminalOptions {
  terminalId: string
  label: string
  /** id of the words that describe the keys */
  describedBy: string
  settings: Store<TerminalSettings>
  beforeRetry(): Promise<void>
  onTitle(title: string): void
  onStatus(status: TerminalStatus): void
}

/** An emulator and its connection; they live on while the drawer is closed. */
export interface LiveTerminal extends Disposable {
  readonly status: Store<TerminalStatus>
  /** Shows it in an element until the returned function is called. */
  show(parent: HTMLElement, actions: TerminalActions): () => void
  size(): TerminalSize
  focus(): void
  /** Presses a key that a touch screen has not. */
  press(key: TouchKey): void
  takeOver(): void
  reconnect(): void
  /** Takes the colours of the page again. */
  repaint(): void
}

export function createLiveTerminal(options: LiveTerminalOptions): LiveTerminal {
  const status = createStore<TerminalStatus>({ state: 'connecting' })
  const host = document.createElement('div')
  host.className = styles.host ?? ''
  const terminal = new Terminal({
    scrollback: scrollbackLines,
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'),
    fontSize: 13,
    cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    minimumContrastRatio: 4.5,
    screenReaderMode: options.settings.get().screenReader,
    macOptionIsMeta: true,
    disableStdin: true,
    linkHandler: { activate: (_event, url) => actions?.openUrl(url) },
  })
  const fitting = new FitAddon()
  terminal.loadAddon(fitting)
  let actions: TerminalActions | undefined
  let connection: TerminalConnection | undefined

  terminal.registerLinkProvider(
    createLinkProvider({
      terminal,
      root: workspaceRoot,
      resolve: (name) => actions?.resolve(name) ?? null,
      open: (target) => openTarget(target),
    }),
  )
  terminal.attachCustomKeyEventHandler(handleKey)
  terminal.onData((text) => connection?.type(text))
  terminal.onBinary((text) => connection?.type(Uint8Array.from(text, (character) => character.charCodeAt(0))))

  function openTarget(target: LinkTarget): void {
    if (target.kind === 'url') actions?.openUrl(target.url)
    else actions?.openFile(target.path, target.lines)
  }

  /** False: the key is not the program's. */
  function handleKey(event: KeyboardEvent): boolean {
    if (!event.ctrlKey || event.altKey || event.metaKey) return true
    if (event.code === 'Backquote') return false
    if (!event.shiftKey) return true
    // The browser pastes by itself.
    if (event.code === 'KeyV') return false
    if (event.code === 'KeyC') {
      event.preventDefault()
      if (event.type === 'keydown' && terminal.hasSelection()) copySelection()
      return false
    }
    if (event.code !== 'ArrowUp') return true
    event.preventDefault()
    if (event.type === 'keydown') actions?.leave()
    return false
  }

  function copySelection(): void {
    copyText(terminal.getSelection()).then(
      () => terminal.focus(),
      (error: unknown) => actions?.report(error),
    )
  }

  function connect(): TerminalConnection {
    return connectTerminal({
      baseUrl: location.origin,
      terminalId: options.terminalId,
      display: {
        write: (bytes, worked) => terminal.write(bytes, worked),
        // After what was written before: output belongs to the size it was made for.
        resize: ({ cols, rows }) => terminal.write('', () => terminal.resize(cols, rows)),
      },
      beforeRetry: options.beforeRetry,
      onTitle: options.onTitle,
      onStatus(next) {
        status.set(next)
        terminal.options.disableStdin = next.state !== 'open' || next.role !== 'writer'
        options.onStatus(next)
      },
    })
  }

  function fit(): void {
    const wanted = fitting.proposeDimensions()
    if (wanted === undefined || !(wanted.cols > 0 && wanted.rows > 0)) return
    connection?.fit({
      cols: Math.min(wanted.cols, maxTerminalColumns),
      rows: Math.min(wanted.rows, maxTerminalRows),
    })
  }

  const repaint = () => {
    terminal.options.theme = terminalTheme(host)
  }
  const observer = new ResizeObserver(fit)
  const unsubscribe = options.settings.subscribe(() => {
    terminal.options.screenReaderMode = options.settings.get().screenReader
  })

  return {
    status,
    show(parent, shownFor) {
      parent.append(host)
      actions = shownFor
      if (terminal.element === undefined) {
        terminal.open(host)
        terminal.textarea?.setAttribute('aria-label', options.label)
        terminal.textarea?.setAttribute('aria-describedby', options.describedBy)
      }
      repaint()
      connection ??= connect()
      observer.observe(host)
      return () => {
        observer.disconnect()
        actions = undefined
        host.remove()
      }
    },
    size: () => ({ cols: terminal.cols, rows: terminal.rows }),
    focus: () => terminal.focus(),
    press(key) {
      const arrow = terminal.modes.applicationCursorKeysMode ? '\x1bO' : '\x1b['
      connection?.type(key in arrows ? arrow + arrows[key as ArrowKey] : controls[key as ControlKey])
      terminal.focus()
    },
    takeOver: () => connection?.takeOver(),
    reconnect: () => connection?.reconnect(),
    repaint,
    [Symbol.dispose]() {
      observer.disconnect()
      unsubscribe()
      connection?.[Symbol.dispose]()
      terminal.dispose()
      host.remove()
    },
  }
}
