import { createTerminal, stopWorkspace } from '@atelier/contract'
import { launchBrowser, startTestServer, type TestServer } from '@atelier/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OpenPage } from './open-page.ts'
import { signUpWorkspacePerson, type WorkspacePerson, workspaceWith } from './workspace-person.ts'

const browser: Browser | null = await launchBrowser()

/** Counts its own visits in a cookie-less page, and names the path it was asked for. */
const program = `let visits = 0
require('node:http').createServer((request, response) => {
  if (request.url === '/favicon.ico') return response.writeHead(404).end()
  visits += 1
  response.setHeader('content-type', 'text/html')
  response.end('<!doctype html><title>Shop</title><h1>Path ' + request.url + '</h1><p>visit ' + visits + '</p>')
}).listen(5173, '127.0.0.1')`

describe.skipIf(browser === null)('the sandbox in a real browser', () => {
  let server: TestServer
  let ada: WorkspacePerson
  let grace: WorkspacePerson
  let workspaceId: string
  let view: OpenPage
  let page: Page

  beforeAll(async () => {
    server = await startTestServer({ environment: { ATELIER_CODE_SERVER_DIR: '/nonexistent' } })
    ada = await signUpWorkspacePerson(server.url)
    grace = await signUpWorkspacePerson(server.url)
    workspaceId = await workspaceWith(ada, {
      files: { 'README.md': '# Shop\n', 'server.cjs': program },
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

  const state = () => page.getByRole('region', { name: 'State' })
  const chip = (words: string) => page.getByRole('link', { name: `Sandbox: ${words}` })

  async function runProgram(): Promise<void> {
    await ada.send('POST', createTerminal.path, { workspaceId, command: ['node', 'server.cjs'] })
  }

  test('[PAGE25] the state tells why, what isolates it and what keeps it; it is stopped and started from there', async () => {
    await page.goto(`/w/${workspaceId}/sandbox`)
    await state().getByText('Running', { exact: true }).waitFor()
    await state().getByText('Linux namespaces').waitFor()
    await state()
      .getByText(/^A request: /)
      .first()
      .waitFor()
    await chip('Running').waitFor()
    await state().getByRole('button', { name: 'Stop' }).click()
    await state().getByText('Stopped', { exact: true }).waitFor()
    await state()
      .getByText(/Stopped by a member/)
      .waitFor()
    await chip('Stopped').waitFor()
    await view.picture('sandbox-stopped-1440-dark')
    await state().getByRole('button', { name: 'Start' }).click()
    await state().getByText('Running', { exact: true }).waitFor()
  })

  test('[PAGE25] a workspace that somebody else stops is shown as stopped, and looking does not start it', async () => {
    await ada.send('POST', stopWorkspace.path.replace(':workspaceId', workspaceId))
    await chip('Stopped').waitFor()
    await page.getByRole('link', { name: 'Search', exact: true }).click()
    await page.getByRole('link', { name: 'Sandbox', exact: true }).click()
    await state().getByText('Stopped', { exact: true }).waitFor()
    await state().getByRole('button', { name: 'Start' }).click()
    await state().getByText('Running', { exact: true }).waitFor()
  })

  test('[PAGE26] a port that a program listens on is shown in a tab, at a path, and again after a reload', async () => {
    await page.getByText('Nothing listens yet.').waitFor()
    await runProgram()
    await page.getByRole('button', { name: 'Open port 5173 here' }).click()
    await page.getByRole('tab', { name: 'Port 5173', selected: true }).waitFor()
    const frame = page.frameLocator('iframe[title="Preview of port 5173"]')
    await frame.getByRole('heading', { name: 'Path /', exact: true }).waitFor()
    await frame.getByText('visit 1').waitFor()
    await page.getByRole('button', { name: 'Load again' }).click()
    await frame.getByText('visit 2').waitFor()
    await page.getByLabel('Path on port 5173').fill('/cart?item=3')
    await page.keyboard.press('Enter')
    await frame.getByRole('heading', { name: 'Path /cart?item=3' }).waitFor()
    await view.picture('preview-1440-dark')
    await page.reload()
    await frame.getByRole('heading', { name: 'Path /cart?item=3' }).waitFor()
    const opened = page.context().waitForEvent('page')
    await page.getByRole('link', { name: 'Open in a new tab' }).click()
    await (await opened).getByRole('heading', { name: 'Path /cart?item=3' }).waitFor()
    await (await opened).close()
  })

  test('[PAGE26] a preview of a port on which nothing listens says so, and shows it as soon as something does', async () => {
    await ada.send('POST', stopWorkspace.path.replace(':workspaceId', workspaceId))
    await page.goto(`/w/${workspaceId}/sandbox?preview=5173/`)
    await page.getByRole('heading', { name: 'Nothing listens on port 5173' }).waitFor()
    await runProgram()
    const frame = page.frameLocator('iframe[title="Preview of port 5173"]')
    await frame.getByRole('heading', { name: 'Path /', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('tab', { name: 'Port 5173' }).press('Delete')
    await page.getByRole('tab', { name: 'Port 5173' }).waitFor({ state: 'detached' })
  })

  test('[PAGE27] where code-server is not installed, the command that installs it can be copied', async () => {
    await page.getByRole('button', { name: 'Open in code-server' }).click()
    await page.getByText('code-server is not installed on this server.').waitFor()
    await page.getByRole('button', { name: /^Copy the command: npm run install:code-server/ }).waitFor()
    await view.picture('sandbox-1440-dark')
  })

  test('[PAGE28] all files are downloaded as an archive', async () => {
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download .zip' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe(`${workspaceId}.zip`)
    expect(await download.failure()).toBeNull()
  })

  test('[PAGE22] a viewer sees the state and the ports, and is offered nothing that starts or opens them', async () => {
    await using other = await grace.open(browser as Browser)
    await other.page.goto(`/w/${workspaceId}/sandbox`)
    await other.page.getByText('Opening a port needs the role editor.').waitFor()
    expect(await other.page.getByRole('button', { name: /Start|Stop|Open|code-server/ }).count()).toBe(0)
    expect([...view.complaints, ...other.complaints]).toEqual([])
  })

  test('[PAGE25] where workspaces cannot be started, that is said with what helps', async () => {
    await using bare = await startTestServer({ environment: { PATH: '/nonexistent' } })
    const mary = await signUpWorkspacePerson(bare.url)
    const place = await workspaceWith(mary, { files: {} })
    await using hers = await mary.open(browser as Browser)
    await hers.page.goto(`/w/${place}/sandbox`)
    await hers.page.getByText('Workspaces cannot be started on this server').waitFor()
    await hers.page
      .getByText(/apt-get install bubblewrap/)
      .first()
      .waitFor()
    expect(await hers.page.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true)
  })
})
