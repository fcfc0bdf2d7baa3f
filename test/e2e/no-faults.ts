import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Runs axe with the rules of WCAG 2.2, levels A and AA, in both themes. */
export async function expectNoFaults(page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.evaluate(axe)
    const faults = await page.evaluate(`axe
      .run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => ({
        id,
        nodes: nodes.map(({ html, failureSummary }) => html.slice(0, 160) + ' ' + failureSummary),
      })))`)
    expect({ url: page.url(), colorScheme, faults }).toEqual({ url: page.url(), colorScheme, faults: [] })
  }
}

/** Nothing is wider than the window, and no control is cut off. */
export async function expectNoOverflow(page: Page): Promise<void> {
  const path = new URL(page.url()).pathname
  const { width } = page.viewportSize() ?? { width: 0 }
  const widths = await page.evaluate('[document.documentElement.scrollWidth, document.body.scrollWidth]')
  expect({ path, widths }).toEqual({ path, widths: [width, width] })
  expect({ path, cutOff: await page.evaluate(controlsCutOff) }).toEqual({ path, cutOff: [] })
}

/** Controls that reach beyond the right edge and cannot be scrolled to. */
const controlsCutOff = `[...document.querySelectorAll('button, a, input, textarea, select, summary')]
  .filter((control) => control.checkVisibility() && !control.closest('nav, [role=tablist], pre, .cm-editor'))
  .filter((control) => control.getBoundingClientRect().right > innerWidth + 0.5)
  .filter((control) => !control.matches('a[href="#main"]'))
  .map((control) => control.outerHTML.slice(0, 120))`

/** When nothing on the page is being read any more. A connection that stays open, as for changes on disk, does not count. */
export async function settled(page: Page): Promise<void> {
  await expect.poll(() => page.locator('.lucide-loader-circle').count()).toBe(0)
}
