import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  type CodeServerSession,
  createFile,
  createTerminal,
  readFiles,
  startCodeServer,
  type WorkspacePort,
} from '@atelier/contract'
import { launchBrowser, type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPage } from './open-page.ts'

const installation =
  process.env.ATELIER_CODE_SERVER_DIR ||
  fileURLToPath(new URL('../../.atelier-tools/code-server', import.meta.url))
const installed = existsSync(`${installation}/installed.json`)
if (!installed) console.warn('code-server is not opened in the browser: npm run install:code-server')
const browser: Browser | null = installed ? await launchBrowser() : null

/** Listens on a port and shows what a script on its page can reach. */
const program = `require('node:http').createServer((request, response) => {
  response.setHeader('content-type', 'text/html')
  response.end('<!doctype html><title>Preview</title><h1>' + request.url + '</h1>')
}).listen(Number(process.argv[2]), '127.0.0.1')`

describe.skipIf(browser === null)('editors and previews in a real browser', () => {
  let server: TestServer
  let owner: Person
  let workspaceId: string

  beforeAll(async () => {
    server = await startTestServer({ environment: { ATELIER_CODE_SERVER_DIR: installation } })
    owner = await signUpPerson(server.url)
    workspaceId = (await send<{ id: string }>('POST', '/api/workspaces', { name: 'Project' })).id
    for (const [path, content] of [
      ['hello.txt', 'second\n'],
      ['server.cjs', program],
    ])
      await send(createFile.method, createFile.path, { workspaceId, path, content })
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  async function send<Data>(method: string, path: string, body?: unknown): Promise<Data> {
    const response = await fetch(server.url + path, {
      method,
      headers: { ...owner.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { data: Data }
    if (!response.ok) throw new Error(JSON.stringify(answer))
    return answer.data
  }

  async function signedIn() {
    const view = await openPage(browser as Browser, server.url)
    const [name = '', value = ''] = owner.cookie.split(/=(.*)/s)
    await view.page.context().addCookies([{ name, value, url: server.url, httpOnly: true, sameSite: 'Lax' }])
    return view
  }

  /** The address of a port, as soon as a program listens there. */
  async function addressOf(port: number): Promise<string> {
    const find = async () => {
      const { items } = await send<{ items: WorkspacePort[] }>('GET', `/api/workspaces/${workspaceId}/ports`)
      return items.find((one) => one.port === port)?.url ?? ''
    }
    await expect.poll(find).toContain(`${port}--`)
    return find()
  }

  async function runInTerminal(page: Page, line: string): Promise<void> {
    await page.keyboard.press('Control+Backquote')
    await page.locator('.xterm-screen').waitFor()
    await page.keyboard.type(line)
    await page.keyboard.press('Enter')
  }

  test('[EDIT8] code-server opens, saves a file of the workspace, and its terminal starts what a preview shows', async () => {
    await using view = await signedIn()
    const { page } = view
    const session = await send<CodeServerSession>('POST', startCodeServer.path, { workspaceId })
    await page.goto(session.url)
    await page.getByRole('treeitem', { name: 'hello.txt' }).dblclick()
    await page.locator('.editor-group-container .view-lines').click()
    await page.keyboard.press('Control+Home')
    // As one input: key by key, completion could add to it.
    await page.keyboard.insertText('first\n')
    await page.keyboard.press('Control+s')
    const query = new URLSearchParams({ workspaceId, path: 'hello.txt' })
    await expect
      .poll(async () => (await send<{ content: string }>('GET', `${readFiles.path}?${query}`)).content)
      .toBe('first\nsecond\n')

    await runInTerminal(page, 'node server.cjs 5173')
    const preview = await page.context().newPage()
    await preview.goto(await addressOf(5173))
    await preview.getByRole('heading', { name: '/' }).waitFor()
    expect(new URL(preview.url()).hostname).toMatch(/^5173--[0-9a-z]{26}\.localhost$/)
    await view.picture('code-server')
  })

  test('[PAGE27] the page opens code-server in a tab of its own, and stops it', async () => {
    await using view = await signedIn()
    const { page } = view
    await page.goto(`/w/${workspaceId}/sandbox`)
    const section = page.getByRole('region', { name: 'code-server' })
    const stop = section.getByRole('button', { name: 'Stop code-server' })
    const open = section.getByRole('button', { name: 'Open in code-server' })
    await stop.or(open).waitFor()
    if (await stop.isVisible()) await stop.click()
    const opened = page.context().waitForEvent('page')
    await open.click()
    await (await opened).getByRole('treeitem', { name: 'hello.txt' }).waitFor()
    await (await opened).close()
    await section.getByRole('link', { name: 'Open in a new tab' }).waitFor()
    await view.picture('sandbox-code-server')
    await stop.click()
    await open.waitFor()
    expect(view.complaints).toEqual([])
  })

  test('[EDIT7] a script in a preview reaches neither our cookie nor our API, and cannot set a cookie for us', async () => {
    await using view = await signedIn()
    const { page } = view
    await send('POST', createTerminal.path, { workspaceId, command: ['node', 'server.cjs', '8080'] })
    await page.goto(await addressOf(8080))
    expect(await page.evaluate('document.cookie')).toBe('')
    const read = (path: string) =>
      page.evaluate(
        `fetch(${JSON.stringify(path)}, { credentials: 'include' }).then(() => 'read', () => 'refused')`,
      )
    expect(await read(`${server.url}/api/workspaces`)).toBe('refused')
    expect(await read(`${server.url.replace('127.0.0.1', 'localhost')}/api/workspaces`)).toBe('refused')
    await page.evaluate(
      `for (const domain of ['localhost', '.localhost', '127.0.0.1']) document.cookie = 'atelier.session=theirs; path=/; domain=' + domain`,
    )
    const ours = await page.context().cookies([server.url, server.url.replace('127.0.0.1', 'localhost')])
    expect(ours.map(({ value }) => value)).not.toContain('theirs')
    expect((await page.goto(`${server.url}/api/workspaces`))?.status()).toBe(200)
  })
})
