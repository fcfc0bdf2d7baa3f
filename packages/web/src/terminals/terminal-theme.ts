import type { ITheme } from '@xterm/xterm'

/** The colours of a terminal among the tokens of the page. */
const tokens = {
  background: '--surface',
  foreground: '--text',
  cursor: '--accent',
  cursorAccent: '--surface',
  selectionBackground: '--selection',
  black: '--line-strong',
  red: '--bad',
  green: '--good',
  yellow: '--warn',
  blue: '--code-function',
  magenta: '--code-keyword',
  cyan: '--code-type',
  white: '--muted',
  brightBlack: '--faint',
  brightRed: '--code-tag',
  brightGreen: '--code-string',
  brightYellow: '--code-number',
  brightBlue: '--accent',
  brightMagenta: '--code-keyword',
  brightCyan: '--code-type',
  brightWhite: '--text',
} as const satisfies ITheme

/** The tokens as they are now at `element`: an emulator paints with colours, not with names of them. */
export function terminalTheme(element: HTMLElement): ITheme {
  const probe = element.ownerDocument.createElement('span')
  element.append(probe)
  const colorOf = (token: string) => {
    probe.style.color = `var(${token})`
    return getComputedStyle(probe).color
  }
  const theme = Object.fromEntries(Object.entries(tokens).map(([name, token]) => [name, colorOf(token)]))
  probe.remove()
  return theme
}
