import {
  createFile,
  createTerminal,
  deleteFile,
  type FileContent,
  readFiles,
  replaceFile,
} from '@atelier/contract'
import { launchBrowser, startTestServer, type TestServer } from '@atelier/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OpenPage } from './open-page.ts'
import { signUpWorkspacePerson, type WorkspacePerson, workspaceWith } from './workspace-person.ts'

const browser: Browser | null = await launchBrowser()

describe.skipIf(browser === null)('editing files in a real browser', () => {
  let server: TestServer
  let ada: WorkspacePerson
  let grace: WorkspacePerson
  let workspaceId: string
  let view: OpenPage
  let page: Page

  beforeAll(async () => {
    server = await startTestServer()
    ada = await signUpWorkspacePerson(server.url)
    grace = await signUpWorkspacePerson(server.url)
    workspaceId = await workspaceWith(ada, {
      files: {
        'src/cart.ts': 'export const items = 1\n',
        'src/tax.ts': 'export const rate = 19\nexport const name = "VAT"\n',
        'windows.txt': 'one\r\ntwo\r\n',
        'notes.md': '# Notes\n',
        'README.md': '# Engine\n',
      },
      members: [[grace, 'viewer']],
    })
    view = await ada.open(browser as Browser)
    page = view.page
  }, 120_000)
  afterAll(async () => {
    await view?.[Symbol.asyncDispose]()
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  const editor = () => page.locator('[data-testid=code] .cm-content')
  const notSaved = () => page.getByText('Not saved', { exact: true })
  const saved = () => page.getByText(/^(Not saved|Saving)$/).waitFor({ state: 'detached' })

  async function openFile(path: string): Promise<void> {
    await page.goto(`/w/${workspaceId}/files?file=${path}`)
    await editor().waitFor()
  }

  async function onDisk(path: string): Promise<FileContent> {
    const query = new URLSearchParams({ workspaceId, path })
    return ada.send<FileContent>('GET', `${readFiles.path}?${query}`)
  }

  /** Somebody else changes a file: through the interface, as a terminal or another person would. */
  async function changeOnDisk(path: string, content: string): Promise<void> {
    const { revision } = await onDisk(path)
    await ada.send(replaceFile.method, replaceFile.path, {
      workspaceId,
      path,
      content,
      baseRevision: revision,
    })
  }

  async function typeAtStart(text: string): Promise<void> {
    await editor().click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.type(text)
    await notSaved().waitFor()
  }

  test('[PAGE19] what is typed is marked as not saved, saved by Ctrl-S, on disk, and there after a reload', async () => {
    await openFile('src/cart.ts')
    await typeAtStart('// first\n')
    await page.getByRole('tab', { name: 'cart.ts, not saved' }).waitFor()
    await page.keyboard.press('Control+s')
    await saved()
    expect((await onDisk('src/cart.ts')).content).toBe('// first\nexport const items = 1\n')
    await page.reload()
    await expect.poll(() => editor().innerText()).toContain('// first')
  })

  test('[PAGE19] a file keeps the line endings it has', async () => {
    await openFile('windows.txt')
    await typeAtStart('zero\n')
    await page.keyboard.press('Control+s')
    await saved()
    expect((await onDisk('windows.txt')).content).toBe('zero\r\none\r\ntwo\r\n')
  })

  test('[PAGE19] undo and the selection are kept by each tab while another file is shown', async () => {
    await openFile('src/tax.ts')
    await typeAtStart('// typed\n')
    await page.getByRole('treeitem', { name: 'README.md' }).click()
    await page.getByLabel('Content of README.md').waitFor()
    await page.getByRole('tab', { name: /^tax\.ts/ }).click()
    await page.getByLabel('Content of tax.ts').click()
    await expect.poll(() => editor().innerText()).toContain('// typed')
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('Control+z')
    await saved()
    await expect.poll(() => editor().innerText()).not.toContain('// typed')
  })

  test('[PAGE20] edits survive a reload, which is warned about, and can be undone after it', async () => {
    await openFile('notes.md')
    await typeAtStart('draft ')
    const key = () =>
      page.evaluate(`Object.keys(localStorage).filter((key) => key.includes('.draft.')).join()`)
    await expect.poll(key).toContain('notes.md')
    const asked = page.waitForEvent('dialog')
    const reloading = page.reload()
    const dialog = await asked
    expect(dialog.type()).toBe('beforeunload')
    await dialog.accept()
    await reloading
    await page.getByRole('tab', { name: 'notes.md, not saved' }).waitFor()
    await expect.poll(() => editor().innerText()).toContain('draft # Notes')
    expect((await onDisk('notes.md')).content).toBe('# Notes\n')
    await editor().click()
    await page.keyboard.press('Control+z')
    await saved()
    await expect.poll(() => editor().innerText()).not.toContain('draft')
  })

  test('[PAGE20] closing a tab with edits asks: cancel keeps them, “Don’t save” gives them up, “Save” writes them', async () => {
    await openFile('notes.md')
    await typeAtStart('x')
    const close = async () => {
      await page.getByRole('tab', { name: /^notes\.md/ }).focus()
      await page.keyboard.press('Delete')
    }
    await close()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await notSaved().waitFor()
    await close()
    await page.getByRole('button', { name: 'Don’t save' }).click()
    await page.getByRole('tab', { name: /^notes\.md/ }).waitFor({ state: 'detached' })
    expect((await onDisk('notes.md')).content).toBe('# Notes\n')

    await page.getByRole('treeitem', { name: 'notes.md' }).click()
    await page.getByLabel('Content of notes.md').waitFor()
    await typeAtStart('y')
    await close()
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('tab', { name: /^notes\.md/ }).waitFor({ state: 'detached' })
    expect((await onDisk('notes.md')).content).toBe('y# Notes\n')
  })

  test('[PAGE21] a file that changed on disk is not overwritten: both texts can be compared, and mine kept', async () => {
    await openFile('src/tax.ts')
    await typeAtStart('// mine\n')
    await changeOnDisk('src/tax.ts', 'export const rate = 20\n')
    await page.keyboard.press('Control+s')
    const alert = page.getByRole('alert').filter({ hasText: 'changed on disk' })
    await alert.waitFor()
    expect((await onDisk('src/tax.ts')).content).toBe('export const rate = 20\n')
    await alert.getByRole('button', { name: 'Compare' }).click()
    await page.getByLabel('tax.ts on disk').getByText('rate = 20').waitFor()
    await page.getByLabel('Your text of tax.ts').getByText('// mine').waitFor()
    await view.picture('conflict-compare-1440-dark')
    await alert.getByRole('button', { name: 'Keep mine' }).click()
    await alert.waitFor({ state: 'detached' })
    expect((await onDisk('src/tax.ts')).content).toBe(
      '// mine\nexport const rate = 19\nexport const name = "VAT"\n',
    )
  })

  test('[PAGE21] theirs can be taken instead, and mine brought back after that', async () => {
    await openFile('src/cart.ts')
    await typeAtStart('// mine\n')
    await changeOnDisk('src/cart.ts', 'export const items = 3\n')
    await page.keyboard.press('Control+s')
    await page.getByRole('button', { name: 'Take theirs' }).click()
    await saved()
    await expect.poll(() => editor().innerText()).toContain('items = 3')
    expect(await editor().innerText()).not.toContain('// mine')
    await page.getByRole('button', { name: 'Bring mine back' }).click()
    await notSaved().waitFor()
    await expect.poll(() => editor().innerText()).toContain('// mine')
    await page.keyboard.press('Control+s')
    await saved()
    expect((await onDisk('src/cart.ts')).content).toContain('// mine')
  })

  test('[PAGE19] Ctrl-G goes to a line and Ctrl-F finds in the file', async () => {
    await openFile('src/tax.ts')
    await editor().click()
    await page.keyboard.press('Control+g')
    await page.keyboard.type('3')
    await page.keyboard.press('Enter')
    await page.getByText('Ln 3, Col 1').waitFor()
    await page.keyboard.press('Control+f')
    await page.keyboard.type('VAT')
    await page.locator('.cm-searchMatch').first().waitFor()
    await view.picture('editor-search-1440-dark')
  })

  test('[PAGE21] a file that is deleted on disk says so, and with edits it can be saved again', async () => {
    const remove = async (path: string) => {
      const query = new URLSearchParams({ workspaceId, path })
      await ada.send(deleteFile.method, `${deleteFile.path}?${query}`)
    }
    await openFile('windows.txt')
    await typeAtStart('kept ')
    await remove('windows.txt')
    await page.getByText('This file was deleted on disk. Your text is kept here.').waitFor()
    await page.getByRole('button', { name: 'Save it again' }).click()
    await saved()
    expect((await onDisk('windows.txt')).content).toBe('kept zero\r\none\r\ntwo\r\n')
    await openFile('README.md')
    await remove('README.md')
    await page.getByRole('heading', { name: 'No such file' }).waitFor()
  })

  test('[PAGE28] bytes that are no text, and too many of them, can be downloaded', async () => {
    const body = { workspaceId, path: 'data.bin', content: '//4A', encoding: 'base64' }
    await ada.send(createFile.method, createFile.path, body)
    await page.goto(`/w/${workspaceId}/files?file=data.bin`)
    await page.getByRole('heading', { name: 'Not text' }).waitFor()
    const script = 'head -c 9000000 /dev/zero | tr "\\0" a > large.tmp && mv large.tmp large.txt'
    await ada.send('POST', createTerminal.path, { workspaceId, command: ['sh', '-c', script] })
    await page.getByRole('treeitem', { name: 'large.txt' }).click()
    await page.getByRole('heading', { name: 'Too large to open here' }).waitFor()
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download' }).click()
    expect((await downloading).suggestedFilename()).toBe('large.txt')
  })

  test('[PAGE22] a viewer reads, and is offered nothing that changes a file', async () => {
    await using other = await grace.open(browser as Browser)
    await other.page.goto(`/w/${workspaceId}/files?file=src/tax.ts`)
    await other.page.getByText('Read-only').waitFor()
    const content = other.page.getByLabel('Content of tax.ts')
    await content.click()
    await other.page.keyboard.type('changed')
    await other.page.keyboard.press('Control+s')
    expect(await content.innerText()).not.toContain('changed')
    expect(await other.page.getByRole('button', { name: 'Save' }).count()).toBe(0)
    expect(other.complaints).toEqual([])
  })

  test('[PAGE3] nothing of this made the browser complain', () => {
    expect(view.complaints).toEqual([])
  })
})
