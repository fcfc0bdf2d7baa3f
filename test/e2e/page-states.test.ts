import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { launchBrowser, startTestServer, type TestServer } from '@atelier/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectNoOverflow, settled } from './no-faults.ts'
import { createWorkspaceThrough, type OpenPage, openPage, signUpThrough } from './open-page.ts'

const browser: Browser | null = await launchBrowser()

/** Searches a minute on this server: few, so that a person can use them up. */
const searchesPerMinute = 6

describe.skipIf(browser === null)('the page in a real browser', () => {
  let server: TestServer
  let folder: string
  let view: OpenPage

  beforeAll(async () => {
    server = await startTestServer({ environment: { RATE_LIMIT_AI: String(searchesPerMinute) } })
    folder = await mkdtemp(join(tmpdir(), 'atelier-project-'))
    await write(join(folder, 'app'), {
      'README.md': '# Shop\n\nSells things.\n',
      'src/cart.ts': 'export function addToCart(item: string) {\n  return [item]\n}\n',
      'src/deep/tax.ts': 'export const taxRate = 0.19\n',
      '.git/HEAD': 'ref: refs/heads/main\n',
      'node_modules/left-pad/index.js': 'module.exports = () => 1\n',
    })
    view = await openPage(browser as Browser, server.url)
    await signUpThrough(view.page, 'Ada', 'ada@example.com')
  })
  afterAll(async () => {
    await view?.[Symbol.asyncDispose]()
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  test('[PAGE4] a dropped folder is imported without its history and packages, and the report names them', async () => {
    const { page } = view
    await createWorkspaceThrough(page, 'shop')
    await drop(page, join(folder, 'app'))
    await page.getByText('3 indexed').waitFor()
    await page.getByText('2 folders left out').click()
    await page.getByRole('cell', { name: 'app/node_modules' }).waitFor()
    await page.getByRole('treeitem', { name: 'README.md' }).waitFor()
    expect(await page.getByRole('treeitem', { name: 'app' }).count()).toBe(0)
  })

  test('[PAGE4] a second folder is asked about, and can stay a folder', async () => {
    const { page } = view
    await write(join(folder, 'tools'), { 'run.sh': 'echo run\n' })
    await drop(page, join(folder, 'tools'))
    await page.getByRole('radio', { name: /As a folder of its own/ }).check()
    await page.getByRole('button', { name: 'Import', exact: true }).last().click()
    await page.getByRole('treeitem', { name: 'tools' }).waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).first().click()
  })

  test('[PAGE6] a file is opened by a part of its name, and by keys in the tree', async () => {
    const { page } = view
    await page.keyboard.press('Control+p')
    await page.getByPlaceholder('File name, or part of its path').fill('tax:1')
    await page
      .getByRole('option', { name: /tax\.ts/ })
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/files?file=src/deep/tax.ts#L1')
    await page.locator('.cm-marked-line', { hasText: 'taxRate' }).waitFor()
    await page.getByRole('treeitem', { name: 'tax.ts', selected: true }).waitFor()

    await page.getByRole('tree').focus()
    await page.keyboard.press('Home')
    await page.keyboard.type('rea')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/files?file=README.md')
  })

  test('[PAGE5] search results open the file at their lines; the words are in the address', async () => {
    const { page } = view
    await page.getByRole('link', { name: 'Search', exact: true }).click()
    await page.getByLabel('Search the code').fill('addToCart')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/search?*q=addToCart*')
    await page.getByRole('button', { name: /cart\.ts/ }).click()
    await page.locator('.cm-marked-line', { hasText: 'addToCart' }).waitFor()
  })

  test('[PAGE3] a refused search says how long to wait', async () => {
    const { page } = view
    for (let search = 0; search <= searchesPerMinute; search += 1) {
      await page.getByLabel('Search the code').fill(`words ${search}`)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**q=words+${search}*`)
      await page
        .getByText(/passages? in|Nothing found|You can try again in/)
        .first()
        .waitFor()
    }
    await page.getByText(/You can try again in \d+ s/).waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: /^Copy request id/ }).waitFor()
  })

  test('[PAGE3] a lost connection is told, and its end too', async () => {
    const { page } = view
    await page.context().setOffline(true)
    await page.getByText('You are offline.').waitFor()
    await page.context().setOffline(false)
    await page.getByText('You are offline.').waitFor({ state: 'detached' })
    await page.getByText('Connected').waitFor()
  })

  test('[PAGE12] nothing overflows at 375 px, on any panel', async () => {
    const { page } = view
    const { pathname } = new URL(page.url())
    const workspace = pathname.replace(/\/\w+$/, '')
    await page.setViewportSize({ width: 375, height: 700 })
    const paths = [
      ...['files', 'search', 'code?file=src/cart.ts', 'chat', 'settings'].map(
        (panel) => `${workspace}/${panel}`,
      ),
      ...['profile', 'appearance', 'keys', 'usage', 'providers', 'limits'].map(
        (section) => `/settings/${section}`,
      ),
      '/',
    ]
    for (const path of paths) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' })
      await settled(page)
      await expectNoOverflow(page)
    }
    await view.picture('workspaces-375-dark')
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  test('[PAGE2] signing out ends the session, and the next address asks to sign in', async () => {
    const { page } = view
    await page.goto('/')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/sign-in')
    await page.goto('/settings/keys')
    await page.waitForURL('**/sign-in?next=%2Fsettings%2Fkeys')
    expect(view.complaints).toEqual([])
  })
})

async function write(root: string, files: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
}

/** Drags a folder of this machine onto the page, as a person does from a file manager. */
async function drop(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [path], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, x: 700, y: 400, data })
  }
  await session.detach()
}
