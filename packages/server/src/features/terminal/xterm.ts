import { createRequire } from 'node:module'

/** The part of xterm's terminal that is used here. */
export interface Emulator {
  readonly cols: number
  readonly rows: number
  readonly options: { scrollback?: number }
  readonly buffer: { readonly active: EmulatorBuffer }
  write(bytes: Uint8Array | string, done?: () => void): void
  resize(cols: number, rows: number): void
  onData(listener: (text: string) => void): void
  onTitleChange(listener: (title: string) => void): void
  loadAddon(addon: Serializer): void
  dispose(): void
}

export interface EmulatorBuffer {
  readonly type: 'normal' | 'alternate'
  readonly cursorX: number
  readonly cursorY: number
  readonly length: number
  getLine(row: number): { translateToString(trimRight?: boolean): string } | undefined
}

export interface EmulatorOptions {
  cols: number
  rows: number
  scrollback: number
  allowProposedApi: true
  logLevel: 'off'
}

/** Writes the screen of the emulator it is loaded into as output that makes it. */
export interface Serializer {
  serialize(): string
}

interface Xterm {
  Terminal: new (options: EmulatorOptions) => Emulator
  SerializeAddon: new () => Serializer
}

/** xterm without a browser. Its own declarations would bring the types of the DOM into the whole server. */
export function loadXterm(): Xterm {
  const require = createRequire(import.meta.url)
  return { ...require('@xterm/headless'), ...require('@xterm/addon-serialize') } as Xterm
}
