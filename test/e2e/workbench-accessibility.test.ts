import { createTerminal, type FileContent, readFiles, replaceFile } from '@atelier/contract'
import { launchBrowser, startTestServer, type TestServer } from '@atelier/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { expectNoFaults, expectNoOverflow, settled } from './no-faults.ts'
import type { OpenPage } from './open-page.ts'
import { signUpWorkspacePerson, type WorkspacePerson, workspaceWith } from './workspace-person.ts'

const browser: Browser | null = await launchBrowser()

const listening = `require('node:http').createServer((_request, response) => {
  response.setHeader('content-type', 'text/html')
  response.end('<!doctype html><html lang="en"><title>Shop</title><main><h1>Shop</h1></main>')
}).listen(5173, '127.0.0.1')`

describe.skipIf(browser === null)('editing and running, for everybody', () => {
  let server: TestServer
  let ada: WorkspacePerson
  let workspaceId: string
  let view: OpenPage
  let page: Page

  beforeAll(async () => {
    server = await startTestServer({ environment: { ATELIER_CODE_SERVER_DIR: '/nonexistent' } })
    ada = await signUpWorkspacePerson(server.url)
    const files = {
      'src/a-module-with-quite-a-long-name.ts': 'export const a = 1\n',
      'README.md': '# Shop\n',
    }
    workspaceId = await workspaceWith(ada, { files })
    await ada.send('POST', createTerminal.path, { workspaceId, command: ['node', '-e', listening] })
    view = await ada.open(browser as Browser)
    page = view.page
    page.on('dialog', (dialog) => void dialog.accept())
  }, 120_000)
  afterAll(async () => {
    await view?.[Symbol.asyncDispose]()
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  /** Opens README.md with edits, over a newer one on disk. */
  async function makeConflict(): Promise<void> {
    await page.goto(`/w/${workspaceId}/code?file=README.md`)
    await page.getByLabel('Content of README.md').click()
    await page.keyboard.type('mine ')
    const query = new URLSearchParams({ workspaceId, path: 'README.md' })
    const { revision } = await ada.send<FileContent>('GET', `${readFiles.path}?${query}`)
    const content = `# Another ${revision}\n\nMore text.\n`
    const body = { workspaceId, path: 'README.md', content, baseRevision: revision }
    await ada.send(replaceFile.method, replaceFile.path, body)
    await page.getByRole('alert').filter({ hasText: 'changed on disk' }).waitFor()
  }

  test('[PAGE13] the editor, a conflict and its comparison have no fault that axe finds', async () => {
    await makeConflict()
    await expectNoFaults(page)
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByLabel('README.md on disk').waitFor()
    await expectNoFaults(page)
    await page.getByRole('button', { name: 'Take theirs' }).click()
    await page.getByLabel('Content of README.md').press('Control+f')
    await page.getByLabel('Find').waitFor()
    await expectNoFaults(page)
  })

  test('[PAGE13] nor have the tree’s menu, names and questions, all by keys', async () => {
    await page.goto(`/w/${workspaceId}/files`)
    const tree = page.getByRole('tree')
    await page.getByRole('treeitem', { name: 'src' }).waitFor()
    await tree.focus()
    await tree.press('Home')
    await tree.press('Shift+F10')
    await page.getByRole('menuitem', { name: 'New file' }).waitFor()
    await expectNoFaults(page)
    await page.keyboard.press('Enter')
    await page.getByLabel('Name of the new file').fill('../x')
    await page.getByText('The name must not contain').waitFor()
    await expectNoFaults(page)
    await page.keyboard.press('Escape')
    await tree.press('Delete')
    await page.getByRole('dialog').waitFor()
    await expectNoFaults(page)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByRole('menuitem', { name: 'Import from Git' }).click()
    await page.getByLabel('Address').fill('ssh://example.com/shop')
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
    await page.getByText('Must be an https address of a host by name').waitFor()
    await expectNoFaults(page)
    await page.keyboard.press('Escape')
  })

  test('[PAGE13] nor have the sandbox and a preview', async () => {
    await page.goto(`/w/${workspaceId}/sandbox`)
    await page.getByRole('button', { name: 'Open port 5173 here' }).click()
    await page.frameLocator('iframe').getByRole('heading', { name: 'Shop' }).waitFor()
    await page.getByRole('button', { name: 'Open in code-server' }).click()
    await page.getByText('code-server is not installed').waitFor()
    await expectNoFaults(page)
    await page.emulateMedia({ colorScheme: 'light' })
    await view.picture('sandbox-1440-light')
  })

  test('[PAGE12] and nothing of it overflows at 375 px', async () => {
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 375, height: 700 })
    const file = 'src/a-module-with-quite-a-long-name.ts'
    for (const place of ['files', `code?file=${file}`, 'code?preview=5173/', 'sandbox']) {
      await page.goto(`/w/${workspaceId}/${place}`)
      await settled(page)
      await expectNoOverflow(page)
      await expectNoFaults(page)
      await view.picture(`narrow-${place.replace(/\W.*/, '')}-375-light`)
    }
    await view.picture('sandbox-375-light')
    await makeConflict()
    await expectNoOverflow(page)
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.locator('.cm-deletedChunk, .cm-changedLine').first().waitFor()
    await expectNoOverflow(page)
    await view.picture('conflict-375-light')
  })
})
