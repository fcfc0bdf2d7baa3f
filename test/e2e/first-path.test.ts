import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { launchBrowser, startTestServer, type TestServer } from '@atelier/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  askThrough,
  createWorkspaceThrough,
  finishedAnswer,
  importFolderThrough,
  openPage,
  signUpThrough,
} from './open-page.ts'

const browser: Browser | null = await launchBrowser()
/** A real project whose content this repository knows: its own client. */
const project = join(import.meta.dirname, '../../packages/client')

describe.skipIf(browser === null)('the first path in a real browser', () => {
  let server: TestServer
  const opened = () => openPage(browser as Browser, server.url)

  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  test('[PAGE1] sign up, import a project, ask, follow a citation to the marked lines', async () => {
    await using view = await opened()
    const { page } = view
    await page.goto('/')
    await page.waitForURL('**/sign-in')
    await signUpThrough(page, 'Ada', 'ada@example.com')
    await page.getByText('you are the administrator').waitFor()
    await view.picture('welcome-1440-dark')

    await createWorkspaceThrough(page, 'client')
    await view.picture('empty-workspace-1440-dark')
    await importFolderThrough(page, project)
    await page.getByRole('treeitem', { name: 'src' }).waitFor()
    await view.picture('imported-1440-dark')

    await askThrough(page, 'How does readEventStream keep an event from growing without end?')
    const answer = await finishedAnswer(page)
    expect(answer).toContain('event-stream.ts')
    await page.getByRole('link', { name: 'Connect a language model' }).waitFor()

    await page.locator('article [data-citation*="event-stream.ts:"]').first().click()
    await expectMarkedLines(page)
    await view.picture('first-path-1440-dark')

    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    await view.picture('first-path-1440-light')
    await page.setViewportSize({ width: 375, height: 760 })
    await page.getByRole('navigation', { name: 'Panels' }).getByRole('link', { name: 'Code' }).click()
    await expectMarkedLines(page)
    await view.picture('code-375-light')
    await page.getByRole('navigation', { name: 'Panels' }).getByRole('link', { name: 'Assistant' }).click()
    await page.getByRole('article').last().waitFor()
    await view.picture('assistant-375-light')
    expect(view.complaints).toEqual([])
  })

  test('[PAGE5] the address of marked lines leads there, after signing in, in another browser', async () => {
    await using first = await opened()
    await signUpThrough(first.page, 'Grace', 'grace@example.com')
    await createWorkspaceThrough(first.page, 'shared')
    await importFolderThrough(first.page, project)
    await first.page.getByRole('treeitem', { name: 'package.json' }).click()
    await first.page.locator('.cm-lineNumbers .cm-gutterElement', { hasText: /^3$/ }).click()
    await first.page.waitForURL('**/files?file=package.json#L3')

    await using second = await opened()
    await second.page.goto(first.page.url())
    await second.page.waitForURL('**/sign-in?next=*')
    await second.page.getByLabel('E-mail').fill('grace@example.com')
    await second.page.getByLabel('Password').fill('correct horse battery')
    await second.page.getByRole('button', { name: 'Sign in' }).click()
    await expectMarkedLines(second.page)
    expect(second.page.url()).toBe(first.page.url())
    expect(second.complaints).toEqual([])
  })

  test('[PAGE2] faults of a form stand beside their fields', async () => {
    await using view = await opened()
    await view.page.goto('/sign-up')
    await view.page.getByLabel('Name').fill('Ada')
    await view.page.getByLabel('E-mail').fill('ada')
    await view.page.getByLabel('Password').fill('short')
    await view.page.getByRole('button', { name: 'Create account' }).click()
    await view.page.getByText('Must be an e-mail address').waitFor()
    await view.page.getByText('Must have at least 12 characters').waitFor()
    expect(await view.page.getByLabel('Name').getAttribute('aria-invalid')).toBeNull()
  })
})

/** The marked lines are those of the address, and their text is the file's. */
async function expectMarkedLines(page: Page): Promise<void> {
  const marked = page.locator('.cm-marked-line')
  await marked.first().waitFor()
  const address = new URL(page.url())
  const [, start, end] = /^#L(\d+)(?:-(\d+))?$/.exec(address.hash) ?? []
  const content = await readFile(join(project, address.searchParams.get('file') ?? ''), 'utf8')
  const expected = content.split('\n').slice(Number(start) - 1, Number(end ?? start))
  const shown = await marked.allTextContents()
  expect(shown.length).toBeGreaterThan(0)
  // Lines far below the visible part are not in the document.
  expect(shown).toEqual(expected.slice(0, shown.length))
}
