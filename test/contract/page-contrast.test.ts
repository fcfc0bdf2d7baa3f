import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const tokens = readFileSync(new URL('../../packages/web/src/ui/tokens.css', import.meta.url), 'utf8')

/** Least contrast of text (WCAG 2.2, 1.4.3) and of what bounds a control or shows the focus (1.4.11). */
const text = 4.5
const control = 3

const textColours = [
  'text',
  'muted',
  'faint',
  'accent',
  'good',
  'warn',
  'bad',
  'code-comment',
  'code-keyword',
  'code-string',
  'code-number',
  'code-function',
  'code-type',
  'code-property',
  'code-tag',
  'code-punctuation',
]
const grounds = ['canvas', 'panel', 'surface', 'raised']

const pairs: (readonly [front: string, back: string, least: number])[] = [
  ...textColours.flatMap((front) => grounds.map((back) => [front, back, text] as const)),
  ...['text', 'muted', 'faint', 'accent'].flatMap((front) =>
    ['hover', 'active'].map((back) => [front, back, text] as const),
  ),
  ...['good', 'warn', 'bad', 'accent'].map((tone) => [tone, `${tone}-soft`, text] as const),
  ...['good', 'warn', 'bad', 'accent'].map((tone) => ['text', `${tone}-soft`, text] as const),
  ...textColours
    .filter((name) => name.startsWith('code-'))
    .map((front) => [front, 'mark-line', text] as const),
  ['text', 'mark-line', text],
  ['text', 'selection', text],
  ['on-accent', 'accent-solid', text],
  ['on-accent', 'accent-solid-hover', text],
  ['on-accent', 'bad-solid', text],
  ...grounds.map((back) => ['control-line', back, control] as const),
  ...grounds.map((back) => ['focus', back, control] as const),
]

describe.each(['light', 'dark'] as const)('the %s theme', (theme) => {
  test('[PAGE11] every text meets AA on every ground it stands on', () => {
    const faults = pairs
      .map(([front, back, least]) => ({
        front,
        back,
        least,
        contrast: contrast(colour(front, theme), colour(back, theme)),
      }))
      .filter(({ contrast: value, least }) => value < least)
      .map(({ front, back, contrast: value }) => `${front} on ${back}: ${value.toFixed(2)}`)
    expect(faults).toEqual([])
  })
})

/** The value of a token: `light-dark(a, b)`, or one colour for both. */
function colour(name: string, theme: 'light' | 'dark'): string {
  const value = new RegExp(`--${name}: (?:light-dark\\((#\\w{6}), (#\\w{6})\\)|(#\\w{6}));`).exec(tokens)
  if (value === null) throw new Error(`no colour --${name}`)
  return value[3] ?? (theme === 'light' ? value[1] : value[2]) ?? ''
}

function contrast(first: string, second: string): number {
  const [darker = 0, lighter = 0] = [luminance(first), luminance(second)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** Relative luminance of sRGB (WCAG 2.2). */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
