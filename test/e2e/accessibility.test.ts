import { join } from 'node:path'
import { launchBrowser, startTestServer, type TestServer } from '@atelier/testkit'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { expectNoFaults, settled } from './no-faults.ts'
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
const project = join(import.meta.dirname, '../../packages/client')

describe.skipIf(browser === null)('the page for everybody', () => {
  let server: TestServer
  let view: OpenPage

  beforeAll(async () => {
    server = await startTestServer()
    view = await openPage(browser as Browser, server.url)
  })
  afterAll(async () => {
    await view?.[Symbol.asyncDispose]()
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  test('[PAGE13] sign-up, lists, settings and their dialogs have no fault that axe finds', async () => {
    const { page } = view
    await page.goto('/sign-up')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('Must be an e-mail address').waitFor()
    await expectNoFaults(page)
    await signUpThrough(page, 'Ada', 'ada@example.com')
    await expectNoFaults(page)
    for (const section of ['profile', 'appearance', 'keys', 'usage', 'providers', 'limits']) {
      await page.goto(`/settings/${section}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await expectNoFaults(page)
    }
    await page.goto('/settings/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await expectNoFaults(page)
  })

  test('[PAGE13] a workspace, with code, a chat, search, palettes and settings, has none either', async () => {
    const { page } = view
    await page.goto('/')
    await createWorkspaceThrough(page, 'client')
    await expectNoFaults(page)
    await importFolderThrough(page, project)
    await askThrough(page, 'How does readEventStream work?')
    await finishedAnswer(page)
    await page.locator('article [data-citation*=".ts:"]').first().click()
    await page.locator('.cm-marked-line').first().waitFor()
    await expectNoFaults(page)
    await page.getByRole('button', { name: /^Model:/ }).click()
    await page.getByPlaceholder('Search models and providers').waitFor()
    await expectNoFaults(page)
    await page.keyboard.press('Escape')
    for (const keys of ['Control+k', 'Control+p']) {
      await page.keyboard.press(keys)
      await page.getByRole('dialog').waitFor()
      await expectNoFaults(page)
      await page.keyboard.press('Escape')
    }
    await page.getByRole('link', { name: 'Search', exact: true }).click()
    await page.getByLabel('Search the code').fill('stream')
    await page.keyboard.press('Enter')
    await page.getByText(/passages? in/).waitFor()
    await expectNoFaults(page)
    await page.getByRole('link', { name: 'Workspace settings' }).click()
    await page.getByText('Embedded with').waitFor()
    await expectNoFaults(page)
  })

  test('[PAGE13] nor have the pages of a narrow screen', async () => {
    const { page } = view
    const { pathname } = new URL(page.url())
    await page.setViewportSize({ width: 375, height: 760 })
    for (const panel of ['files', 'search', 'code?file=src/client.ts', 'chat']) {
      await page.goto(pathname.replace(/settings$/, panel))
      await page.getByRole('navigation', { name: 'Panels' }).waitFor()
      await settled(page)
      await expectNoFaults(page)
    }
  })
})
