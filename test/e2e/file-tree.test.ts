import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTerminal, type DirectoryListing, type FileContent, readFiles } from '@atelier/contract'
import { launchBrowser, startTestServer, type TestServer } from '@atelier/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OpenPage } from './open-page.ts'
import { signUpWorkspacePerson, type WorkspacePerson, workspaceWith } from './workspace-person.ts'

const browser: Browser | null = await launchBrowser()

describe.skipIf(browser === null)('the file tree in a real browser', () => {
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
        'src/tax.ts': 'export const rate = 19\n',
        'old/deep/a.txt': 'a\n',
        'old/b.txt': 'b\n',
        'README.md': '# Engine\n',
      },
      members: [[grace, 'viewer']],
    })
    view = await ada.open(browser as Browser)
    page = view.page
    await page.goto(`/w/${workspaceId}/files`)
    await row('README.md').waitFor()
  }, 120_000)
  afterAll(async () => {
    await view?.[Symbol.asyncDispose]()
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  const row = (name: string) => page.getByRole('treeitem', { name, exact: true })
  const choose = (item: string) => page.getByRole('menuitem', { name: item }).click()
  const notice = (text: string | RegExp) =>
    page.getByRole('region', { name: 'Notifications' }).getByText(text)

  async function pathsOnDisk(): Promise<string[]> {
    const query = new URLSearchParams({ workspaceId, depth: '64' })
    const { entries } = await ada.send<DirectoryListing>('GET', `${readFiles.path}?${query}`)
    return entries.map(({ path }) => path).sort()
  }

  async function contentOf(path: string): Promise<string> {
    const query = new URLSearchParams({ workspaceId, path })
    return (await ada.send<FileContent>('GET', `${readFiles.path}?${query}`)).content
  }

  test('[PAGE23] a file is made by a name typed in the tree, and opens; a taken name is told before it is sent', async () => {
    await row('src').click()
    await page.getByRole('button', { name: 'New file' }).click()
    const field = page.getByLabel('Name of the new file')
    await field.fill('tax.ts')
    await page.getByText('“src/tax.ts” is there already').waitFor()
    await view.picture('tree-name-1440-dark')
    await field.fill('new.ts')
    await field.press('Enter')
    await page.getByRole('tab', { name: 'new.ts', selected: true }).waitFor()
    await field.waitFor({ state: 'detached' })
    expect(await pathsOnDisk()).toContain('src/new.ts')
  })

  test('[PAGE23] a folder is made in a folder by its menu, and can be left by Escape', async () => {
    await row('src').click({ button: 'right' })
    await view.picture('tree-menu-1440-dark')
    await choose('New folder')
    await page.keyboard.type('parts')
    await page.keyboard.press('Enter')
    await expect.poll(pathsOnDisk).toContain('src/parts')
    await page.getByLabel('Name of the new folder').waitFor({ state: 'detached' })
    await row('parts').click({ button: 'right' })
    await choose('New file')
    await page.keyboard.press('Escape')
    await page.getByLabel('Name of the new file').waitFor({ state: 'detached' })
  })

  test('[PAGE23] F2 renames, and the open tab with its unsaved edits goes along', async () => {
    await row('cart.ts').click()
    const editor = page.getByLabel('Content of cart.ts')
    await editor.click()
    await page.keyboard.type('// edited ')
    await page.getByText('Not saved', { exact: true }).waitFor()
    await row('cart.ts').click()
    await page.getByRole('tree').press('F2')
    const field = page.getByLabel('New name')
    await field.fill('basket.ts')
    await field.press('Enter')
    await page.getByRole('tab', { name: 'basket.ts, not saved', selected: true }).waitFor()
    await page.waitForURL('**file=src/basket.ts')
    await page.getByLabel('Content of basket.ts').getByText('// edited').waitFor()
    await page.keyboard.press('Control+s')
    await expect.poll(() => contentOf('src/basket.ts')).toContain('// edited')
    expect(await pathsOnDisk()).not.toContain('src/cart.ts')
  })

  test('[PAGE23] a row is dragged into a folder, and back by the notice', async () => {
    await row('README.md').click()
    await page.waitForURL('**file=README.md')
    await row('README.md').dragTo(row('parts'))
    await notice('“README.md” is in src/parts now').waitFor()
    await page.waitForURL('**file=src/parts/README.md')
    expect(await pathsOnDisk()).toContain('src/parts/README.md')
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(pathsOnDisk).toContain('README.md')
    await page.waitForURL('**file=README.md')
    await page.getByLabel('Content of README.md').getByText('# Engine').waitFor()
  })

  test('[PAGE23] Delete says what goes; a file comes back by Undo', async () => {
    await row('tax.ts').click()
    await page.getByRole('tree').press('Delete')
    await page.getByRole('dialog').getByText('The file src/tax.ts goes.').waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await row('tax.ts').waitFor({ state: 'detached' })
    expect(await page.getByRole('tab', { name: 'tax.ts' }).count()).toBe(0)
    expect(await pathsOnDisk()).not.toContain('src/tax.ts')
    await page.getByRole('button', { name: 'Undo' }).click()
    await row('tax.ts').waitFor()
    expect(await contentOf('src/tax.ts')).toBe('export const rate = 19\n')
  })

  test('[PAGE23] of a folder it says how much goes, and nothing goes on Cancel', async () => {
    await row('old').click({ button: 'right' })
    await choose('Delete')
    await page
      .getByText('The folder old goes, with 2 files and 1 folder in it. This cannot be undone.')
      .waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await pathsOnDisk()).toContain('old/deep/a.txt')
    await row('old').click({ button: 'right' })
    await choose('Delete')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await row('old').waitFor({ state: 'detached' })
    expect(await pathsOnDisk()).not.toContain('old')
  })

  test('[PAGE23] files are uploaded into a folder', async () => {
    const choosing = page.waitForEvent('filechooser')
    await row('parts').click({ button: 'right' })
    await choose('Upload files here')
    const files = [{ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') }]
    await (await choosing).setFiles(files)
    await row('logo.svg').waitFor()
    expect(await contentOf('src/parts/logo.svg')).toBe('<svg/>')
  })

  test('[PAGE23] what is dropped on a folder goes into it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'atelier-drop-'))
    await mkdir(join(folder, 'icons'))
    await writeFile(join(folder, 'icons', 'sun.svg'), '<svg/>')
    const box = await row('parts').boundingBox()
    const session = await page.context().newCDPSession(page)
    const data = { items: [], files: [join(folder, 'icons')], dragOperationsMask: 1 }
    const place = { x: (box?.x ?? 0) + 40, y: (box?.y ?? 0) + 10 }
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await session.send('Input.dispatchDragEvent', { type, ...place, data })
    await session.detach()
    await expect.poll(pathsOnDisk).toContain('src/parts/icons/sun.svg')
    await row('icons').waitFor()
    await page.getByText('Drop to import').waitFor({ state: 'detached' })
    await rm(folder, { recursive: true })
  })

  test('[PAGE23] an upload asks before it replaces a file', async () => {
    const upload = async (content: string) => {
      const choosing = page.waitForEvent('filechooser')
      await row('parts').click({ button: 'right' })
      await choose('Upload files here')
      const file = { name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(content) }
      await (await choosing).setFiles([file])
      await page.getByRole('dialog', { name: 'Replace 1 file?' }).waitFor()
    }
    await upload('<svg>2</svg>')
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await contentOf('src/parts/logo.svg')).toBe('<svg/>')
    await upload('<svg>3</svg>')
    await page.getByRole('button', { name: 'Replace', exact: true }).click()
    await expect.poll(() => contentOf('src/parts/logo.svg')).toBe('<svg>3</svg>')
  })

  test('[PAGE24] what a program makes and changes on disk is shown without asking', async () => {
    await row('README.md').click()
    await page.getByLabel('Content of README.md').getByText('# Engine').waitFor()
    const script = 'mkdir -p made && echo x > made/by-hand.txt && echo "# Changed" > README.md'
    await ada.send('POST', createTerminal.path, { workspaceId, command: ['sh', '-c', script] })
    await row('made').waitFor()
    await row('made').click()
    await expect.poll(() => row('by-hand.txt').getByTitle('Not yet searchable').count()).toBe(0)
    await page.getByLabel('Content of README.md').getByText('# Changed').waitFor()
    await page.getByLabel('Content of README.md').click()
    await page.keyboard.type('mine ')
    await ada.send('POST', createTerminal.path, {
      workspaceId,
      command: ['sh', '-c', 'echo "# Again" > README.md'],
    })
    await page.getByRole('alert').filter({ hasText: 'changed on disk' }).waitFor()
    await page.getByLabel('Content of README.md').getByText('mine').waitFor()
  })

  test('[PAGE22] a viewer is offered none of it, by mouse or by keys', async () => {
    await using other = await grace.open(browser as Browser)
    await other.page.goto(`/w/${workspaceId}/files`)
    const readme = other.page.getByRole('treeitem', { name: 'README.md' })
    await readme.click({ button: 'right' })
    expect(await other.page.getByRole('menuitem').allInnerTexts()).toEqual(['Copy the path', 'Download'])
    await other.page.keyboard.press('Escape')
    expect(await other.page.getByRole('button', { name: /^New (file|folder)$/ }).count()).toBe(0)
    await readme.click()
    for (const key of ['F2', 'Delete']) await other.page.getByRole('tree').press(key)
    expect(await other.page.getByRole('dialog').count()).toBe(0)
    expect(await other.page.getByLabel('New name').count()).toBe(0)
    expect([...view.complaints, ...other.complaints]).toEqual([])
  })
})
