/** What series may be drawn with. */
export type SeriesToken = '--accent' | '--code-type' | '--code-number'

const tokens = ['--muted', '--line', '--accent', '--code-type', '--code-number'] as const
type Token = (typeof tokens)[number]

/** The colours of tokens as the theme has them now: a canvas follows neither `var()` nor `light-dark()`. */
export function plotColours(element: HTMLElement): Record<Token, string> {
  const probe = document.createElement('span')
  element.append(probe)
  const colours = tokens.map((token) => {
    probe.style.color = `var(${token})`
    return [token, getComputedStyle(probe).color] as const
  })
  probe.remove()
  return Object.fromEntries(colours) as Record<Token, string>
}
