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
