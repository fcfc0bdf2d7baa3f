import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

const artefacts = join(import.meta.dirname, '../../test-results')

export interface OpenPage extends AsyncDisposable {
  readonly page: Page
  /** what the browser complained about: uncaught errors, refused resources, warnings of React */
  readonly complaints: readonly string[]
  /** Writes a picture of the page into `test-results/`. */
  picture(name: string): Promise<void>
}

/** A page of the built product in a browser profile of its own, 1440 by 900 and dark unless told. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1440, height: 900 },
    colorScheme: 'dark',
    locale: 'en-US',
    reducedMotion: 'reduce',
    ...options,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error.stack ?? error)))
  page.on('console', (message) => {
    // A refused request is the product's to show, and the browser reports each one of them as well.
    const isRefusal = message.text().startsWith('Failed to load resource')
    if ((message.type() === 'error' || message.type() === 'warning') && !isRefusal)
      complaints.push(message.text())
  })
  return {
    page,
    complaints,
    async picture(name) {
      await mkdir(artefacts, { recursive: true })
      await page.screenshot({ path: join(artefacts, `${name}.png`) })
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
}

/** Creates an account through the page. */
export async function signUpThrough(page: Page, name: string, email: string): Promise<void> {
  await page.goto('/sign-up')
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill('correct horse battery')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { name: `Welcome, ${name}` }).waitFor()
}

export async function createWorkspaceThrough(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'New workspace' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Create workspace' }).click()
  await page.getByRole('heading', { name: 'Drop a project here' }).waitFor()
}

/** Imports a folder by the picker and waits for the report. */
export async function importFolderThrough(page: Page, folder: string): Promise<void> {
  await page.getByLabel('Folder to import').setInputFiles(folder)
  await page.getByText('Imported', { exact: true }).waitFor({ timeout: 60_000 })
}

export async function askThrough(page: Page, question: string): Promise<void> {
  await page.getByLabel('Ask about this workspace').fill(question)
  await page.keyboard.press('Enter')
}

/** The last answer's text, when it has ended. */
export async function finishedAnswer(page: Page): Promise<string> {
  const answer = page.getByRole('article').last()
  await answer.locator('footer').waitFor({ timeout: 60_000 })
  return answer.innerText()
}
