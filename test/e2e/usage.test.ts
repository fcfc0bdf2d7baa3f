import { join } from 'node:path'
import {
  launchBrowser,
  type MockProviders,
  startMockProviders,
  startTestServer,
  type TestServer,
} from '@atelier/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectNoFaults, expectNoOverflow, settled } from './no-faults.ts'
import {
  askThrough,
  createWorkspaceThrough,
  finishedAnswer,
  importFolderThrough,
  type OpenPage,
  openPage,
  signUpThrough,
} from './open-page.ts'

const browser: Browser | null = await launchBrowser()
/** Compressed scripts, styles and answers of the page that a stranger sees first. */
const firstPageBytes = 200_000

const project = join(import.meta.dirname, '../../packages/client')

describe.skipIf(browser === null)('usage and providers in a real browser', () => {
  let providers: MockProviders
  let server: TestServer
  let view: OpenPage
  let workspace: string

  beforeAll(async () => {
    providers = await startMockProviders()
    server = await startTestServer({ environment: providers.environment })
    view = await openPage(browser as Browser, server.url)
    await signUpThrough(view.page, 'Ada', 'ada@example.com')
  })
  beforeEach(() => providers.heal())
  afterAll(async () => {
    await view?.[Symbol.asyncDispose]()
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
    await providers?.[Symbol.asyncDispose]()
  })

  test('[PAGE46] the first page is small', async () => {
    await using first = await openPage(browser as Browser, server.url)
    await first.page.goto('/sign-in')
    await first.page.getByRole('button', { name: 'Sign in' }).waitFor()
    const loaded = await resourcesOf(first.page)
    const bytes = loaded.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
    expect(bytes).toBeGreaterThan(20_000)
    expect(bytes).toBeLessThan(firstPageBytes)
  })

  test('[PAGE44] before the first question the page says what will be counted', async () => {
    const { page } = view
    await page.goto('/settings/usage')
    await page.getByText('No model was asked in this time').waitFor()
    expect((await resourcesOf(page)).filter(isPlots)).toEqual([])
    await expectNoFaults(page)
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  })

  test('[PAGE44] totals, days, models and workspaces add up to what the chat has told', async () => {
    const { page } = view
    await page.goto('/')
    await createWorkspaceThrough(page, 'client')
    await importFolderThrough(page, project)
    workspace = page.url()
    providers.answer('Count', {
      content: 'Counted.',
      usage: { prompt_tokens: 900_000, completion_tokens: 50_000 },
    })
    await chooseModel(page, 'luna')
    await askThrough(page, 'Count this')
    await finishedAnswer(page)
    const footer = page.getByRole('article').last().locator('footer')
    expect(await footer.innerText()).toMatch(/900,000 in, 50,000 out/)
    const cost = await page.getByTitle('The cost of this chat').innerText()
    expect(cost).toMatch(/^\$\d/)

    await page.getByTitle('The cost of this chat').click()
    await page.waitForURL('**/settings/usage')
    await page.getByRole('img', { name: /^Cost of each day/ }).waitFor()
    expect(await page.getByText('Cost', { exact: true }).first().locator('..').innerText()).toContain(cost)
    for (const [table, name] of [
      ['Usage by model', 'GPT-6 Luna'],
      ['Usage by workspace', 'client'],
    ] as const) {
      const row = page.getByRole('region', { name: table }).getByRole('row', { name: new RegExp(name) })
      await expect
        .poll(() => row.getByRole('cell').allInnerTexts())
        .toEqual(['1', '900,000', '0', '50,000', cost])
    }
  })

  test('[PAGE44] behind the plot stands a table, and the plot draws each day of the range', async () => {
    const { page } = view
    await page.getByText('The same as a table').click()
    const days = page.getByRole('region', { name: 'Usage by day' }).getByRole('row')
    expect(await days.count()).toBe(2)
    expect(await page.locator('canvas').count()).toBe(2)
    const tokens = page.getByRole('img', { name: /^Tokens of each day/ })
    await expect.poll(() => tokens.evaluate(isDrawn)).toBe(true)
    expect((await resourcesOf(page)).filter(isPlots)).not.toEqual([])
    await expectNoFaults(page)
    await view.picture('usage-1440-light')
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    await page.getByRole('link', { name: '7 days' }).click()
    await page.waitForURL('**/settings/usage?days=7*')
    // The plot is drawn anew with the range, maybe under the pointer.
    const cost = page.getByRole('img', { name: /^Cost of each day/ })
    let x = 640
    const hovered = async () => {
      await cost.hover({ position: { x: x++, y: 80 } })
      return page.getByText(/for 1 call$/).count()
    }
    await expect.poll(hovered).toBe(1)
    await view.picture('usage-1440-dark')
  })

  test('[PAGE44] an administrator sees everybody’s usage, and sets and removes budgets', async () => {
    const { page } = view
    await page.getByRole('link', { name: 'Everybody’s' }).click()
    await page.getByRole('region', { name: 'Usage by person' }).getByText(/^usr_/).waitFor()
    await page.getByRole('button', { name: 'New budget' }).click()
    await page.getByLabel('At most, in USD').fill('much')
    await page.getByRole('button', { name: 'Set budget' }).click()
    await page.getByText('must be a decimal string such as 0.25').waitFor()
    await expectNoFaults(page)
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    await page.getByLabel('Whose calls count').selectOption('workspace')
    await page.getByLabel('Workspace', { exact: true }).selectOption('client')
    await page.getByLabel('At most, in USD').fill('20')
    await view.picture('budget-new-1440-dark')
    await page.getByRole('button', { name: 'Set budget' }).click()
    const budget = page.getByRole('listitem').filter({ hasText: 'Workspace client, a month' })
    await budget.getByText(/^\$[\d.]+ of \$20\.00/).waitFor()
    await view.picture('usage-everybody-1440-dark')
    await budget.getByRole('button', { name: /^Remove the budget/ }).click()
    await budget.waitFor({ state: 'detached' })
  })

  test('[PAGE45] a provider that fails is told as such, with its last error, and the page keeps itself fresh', async () => {
    const { page } = view
    await page.goto('/settings/providers')
    const card = page.getByRole('article').filter({ has: page.getByRole('heading', { name: 'Anthropic' }) })
    await card.getByText('ready').waitFor()
    const asking = await page.context().newPage()
    await asking.goto(workspace)
    await chooseModel(asking, 'haiku')
    providers.fail({ kind: 'status', status: 529 }, { protocol: 'anthropic' })
    await askThrough(asking, 'Will this work?')
    await asking.getByRole('article').last().locator('footer, [role=alert]').first().waitFor()
    await asking.close()
    await card.getByText(/^(failing|left alone)$/).waitFor()
    await card.getByText(/is failing at the moment \(status 529/).waitFor()
    await card.getByText('1 model asked since the start').click()
    await card.getByText('Claude Haiku 5.5', { exact: true }).waitFor()
    await view.picture('providers-1440-dark')
    await expectNoFaults(page)
    await view.picture('providers-1440-light')
  })

  test('[PAGE45] the page says how a provider is connected', async () => {
    const { page } = view
    await page.getByText('XAI_API_KEY=…').waitFor()
    expect(await page.getByText('ANTHROPIC_API_KEY=…').count()).toBe(0)
  })

  test('[PAGE12, PAGE13] both pages fit a narrow screen, without a fault in either theme', async () => {
    const { page } = view
    await page.setViewportSize({ width: 375, height: 760 })
    for (const name of ['usage', 'providers']) {
      await page.goto(`/settings/${name}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await settled(page)
      await expectNoOverflow(page)
      await expectNoFaults(page)
      await view.picture(`${name}-375-light`)
    }
    expect(view.complaints).toEqual([])
  })
})

interface Resource {
  name: string
  encodedBodySize: number
}

/** What the browser has fetched for this page. */
function resourcesOf(page: Page): Promise<Resource[]> {
  return page.evaluate(`performance.getEntriesByType('resource')
    .map(({ name, encodedBodySize }) => ({ name, encodedBodySize }))`)
}

/** The plotting library is in a file of its own. */
const isPlots = ({ name }: Resource) => name.includes('usage-plots')

async function chooseModel(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Model:/ }).click()
  await page.getByPlaceholder('Search models and providers').fill(name)
  await page.getByRole('option').filter({ hasNotText: 'Best' }).first().click()
}

/** What the check below needs of a canvas and what is around it. */
interface Plot {
  querySelector(selector: 'canvas'): {
    width: number
    height: number
    getContext(kind: '2d'): { getImageData(...box: number[]): { data: Uint8ClampedArray } }
  } | null
}

/** Whether a plot has bars: pixels of a strong colour, which text and lines have not. */
function isDrawn(plot: unknown): boolean {
  const canvas = (plot as Plot).querySelector('canvas')
  if (canvas === null) return false
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  let strong = 0
  for (let at = 0; at < data.length; at += 4) {
    const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3)
    if (data[at + 3] === 255 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) strong += 1
  }
  return strong > 50
}
