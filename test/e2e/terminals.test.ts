import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { addWorkspaceMember, createFile, createTerminal, listWorkspacePorts } from '@atelier/contract'
import { launchBrowser, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectNoFaults } from './no-faults.ts'
import {
  createWorkspaceThrough,
  importFolderThrough,
  type OpenPage,
  openPage,
  signUpThrough,
} from './open-page.ts'

import {
  clickWord,
  expectScreen,
  focused,
  focusTerminal,
  interceptSockets,
  screenOf,
  tabNames,
  typeLine,
} from './terminal-page.ts'

const browser: Browser | null = await launchBrowser()
/** A package of npm, as it is published: it has no dependencies, and its own tests. */
const project = dirname(createRequire(import.meta.url).resolve('pend/package.json'))

describe.skipIf(browser === null)('terminals in a real browser', () => {
  let server: TestServer
  let view: OpenPage
  let page: Page

  beforeAll(async () => {
    server = await startTestServer()
    view = await openPage(browser as Browser, server.url)
    page = view.page
    await signUpThrough(page, 'Ada', 'ada@example.com')
    await createWorkspaceThrough(page, 'pend')
    await importFolderThrough(page, project)
  })
  afterAll(async () => {
    await view?.[Symbol.asyncDispose]()
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  test('[PAGE30] npm test of a real package runs in the terminal, and its output is on the page', async () => {
    await page.keyboard.press('Control+Backquote')
    await expectScreen(page, '$')
    await typeLine(page, 'npm test')
    await expectScreen(page, 'callback twice...OK')
    await expectScreen(page, '5 tests passed.\n~/workspace$')
    await view.picture('terminal-1440-dark')
  })

  test('[PAGE32] after a reload the same shell shows the same, and nothing is typed into it', async () => {
    await typeLine(page, 'mark=$((6*7))')
    // A question to the terminal: whoever answered it again would type into the shell.
    await typeLine(page, "read -rs -d c -p $'\\e[c' answer; echo got $(wc -c <<< $answer)")
    await expectScreen(page, 'got 7')
    const before = await screenOf(page)
    await page.reload()
    await expect.poll(() => screenOf(page), { timeout: 30_000 }).toBe(before)
    await focusTerminal(page)
    await typeLine(page, 'echo "mark is $mark"')
    await expectScreen(page, 'mark is 42')
    expect(await screenOf(page)).not.toContain('command not found')
  })

  test('[PAGE31] terminals are tabs: a program names its tab, its end stays to be read', async () => {
    await page.getByRole('button', { name: 'New terminal' }).click()
    await expect.poll(() => tabNames(page)).toEqual(['Terminal 1', 'Terminal 2'])
    await expectScreen(page, '$')
    await typeLine(page, 'printf "\\033]0;my build\\007"; echo sec""ond')
    await expect.poll(() => tabNames(page)).toEqual(['Terminal 1', 'my build'])
    await expectScreen(page, 'second')

    await page.getByRole('tab', { name: 'Terminal 1' }).click()
    await expectScreen(page, 'mark is 42')
    await page.getByRole('tab', { name: 'my build' }).click()
    await expectScreen(page, 'second')
    await typeLine(page, 'exit 3')
    await page.getByText('Exited with code 3').waitFor()
    await expect.poll(() => tabNames(page)).toEqual(['Terminal 1', 'my build, Exited with code 3'])
    await expectScreen(page, 'second')
    await view.picture('terminal-exited-1440-dark')

    await page.getByRole('tab', { name: 'my build' }).press('Delete')
    await expect.poll(() => tabNames(page)).toEqual(['Terminal 1'])
  })

  test('[PAGE34] a file with its line in the output opens there', async () => {
    await typeLine(page, 'clear; echo "at ./index.js:"7:3')
    await expectScreen(page, 'at ./index.js:7:3')
    const follow = async () => {
      await clickWord(page, './index.js:7:3')
      return new URL(page.url()).hash
    }
    await expect.poll(follow, { timeout: 30_000, interval: 1_000 }).toBe('#L7')
    await page.locator('.cm-marked-line').waitFor()
    expect(new URL(page.url()).search).toBe('?file=index.js')
  })

  test('[PAGE34] the address of a server in the workspace opens as its preview', async () => {
    const program = "require('http').createServer((_, r) => r.end('from the workspace')).listen(5173)"
    await typeLine(page, `clear; (node -e "${program}" &); echo "http://localhost:"5173/hello`)
    await expectScreen(page, 'http://localhost:5173/hello')
    const workspaceId = new URL(page.url()).pathname.split('/')[2] ?? ''
    const ports = listWorkspacePorts.path.replace(':workspaceId', workspaceId)
    const listening = async () => (await page.request.get(server.url + ports)).text()
    await expect.poll(listening, { timeout: 30_000 }).toContain('"port":5173')
    const openPreview = async () => {
      await clickWord(page, 'http://localhost:5173/hello')
      return page.context().pages().length
    }
    // A link is one only while the pointer rests on it: output that comes meanwhile takes it away for a moment.
    await expect.poll(openPreview, { timeout: 30_000, interval: 2_000 }).toBeGreaterThan(1)
    const opened = page.context().pages().at(-1) as Page
    await opened.getByText('from the workspace').waitFor()
    expect(new URL(opened.url()).pathname).toBe('/hello')
    expect(new URL(opened.url()).hostname).toMatch(/^5173--[0-9a-z]+\.localhost$/)
    for (const other of page.context().pages()) if (other !== page) await other.close()
    await focusTerminal(page)
  })

  test('[PAGE35] the keyboard leads out of the terminal and back, copies and pastes', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await focusTerminal(page)
    await page.keyboard.press('Control+Shift+ArrowUp')
    await expect.poll(() => focused(page)).toBe('Terminal 1')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).toContain('Terminal 1')
    await page.keyboard.press('Control+Backquote')
    await page.getByRole('region', { name: 'Terminals' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Control+Backquote')

    await typeLine(page, 'clear; echo copy-me')
    await expect.poll(() => screenOf(page)).toBe('copy-me\n~/workspace$ ')
    await clickWord(page, 'copy-me', { clickCount: 2 })
    await page.keyboard.press('Control+Shift+C')
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('copy-me')
    await page.keyboard.type('echo pasted-')
    await page.keyboard.press('Control+Shift+V')
    await page.keyboard.press('Enter')
    await expectScreen(page, 'pasted-copy-me')
  })

  test('[PAGE32] a lost connection is said, takes no keys, and comes back with what was missed', async () => {
    const sockets = await interceptSockets(page)
    await page.reload()
    await expectScreen(page, 'pasted-copy-me')
    await focusTerminal(page)
    await typeLine(page, 'clear; echo started; until [ -e go ]; do sleep 0.1; done; echo later-$((40+2))')
    await expectScreen(page, 'started ')
    sockets.cut()
    await page.getByText('The connection was lost').waitFor()
    await page.keyboard.type('never typed')
    await view.picture('terminal-lost-1440-dark')
    const workspaceId = new URL(page.url()).pathname.split('/')[2]
    await page.request.post(server.url + createFile.path, {
      data: { workspaceId, path: 'go', content: '' },
      headers: { origin: server.url },
    })
    sockets.mend()
    await page.getByText('The connection was lost').waitFor({ state: 'detached' })
    await expectScreen(page, 'later-42')
    expect(await screenOf(page)).not.toContain('never')
  })

  test('[PAGE33] one connection types, another of the same person takes over, a viewer is offered nothing', async () => {
    await using other = await openPage(browser as Browser, server.url)
    await other.page.context().addCookies(await page.context().cookies())
    const { pathname } = new URL(page.url())
    await other.page.goto(pathname.replace(/\w+$/, 'terminal'))
    await expectScreen(other.page, 'later-42')
    await page.getByText('Another connection types here').waitFor()
    await typeLine(page, 'echo refused')
    await view.picture('terminal-viewer-1440-dark')
    await page.getByRole('button', { name: 'Take over' }).click()
    await other.page.getByText('Another connection types here').waitFor()
    await focusTerminal(page)
    await typeLine(page, "echo taken-'over'")
    await expectScreen(other.page, 'taken-over')
    expect(await screenOf(other.page)).not.toContain('refused')

    const workspaceId = pathname.split('/')[2] ?? ''
    const helper = await signUpPerson(server.url, { name: 'Grace' })
    const members = addWorkspaceMember.path.replace(':workspaceId', workspaceId)
    const add = (email: string, role: string) =>
      page.request.post(server.url + members, { data: { email, role }, headers: { origin: server.url } })
    await add(helper.email, 'editor')
    await fetch(server.url + createTerminal.path, {
      method: 'POST',
      headers: { ...helper.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ workspaceId, command: ['sleep', '1000'] }),
    })
    const tab = page.getByRole('tab', { name: /^sleep, opened by/ })
    await tab.waitFor({ timeout: 60_000 })
    await tab.press('Delete')
    await page.getByRole('dialog').getByText('hung up on, for everybody').waitFor()
    await page.getByRole('button', { name: 'Close terminal' }).click()
    await expect.poll(() => tabNames(page), { timeout: 30_000 }).toEqual(['Terminal 1'])

    const guest = await signUpPerson(server.url, { name: 'Guest' })
    await add(guest.email, 'viewer')
    await using looking = await openPage(browser as Browser, server.url)
    const [name = '', value = ''] = guest.cookie.split(/=(.*)/s)
    await looking.page.context().addCookies([{ name, value, url: server.url }])
    await looking.page.goto(page.url())
    await looking.page.getByRole('treeitem', { name: 'index.js' }).waitFor()
    expect(await looking.page.getByRole('button', { name: 'Terminal', exact: true }).count()).toBe(0)
    await looking.page.keyboard.press('Control+Backquote')
    expect(await looking.page.getByRole('region', { name: 'Terminals' }).count()).toBe(0)
  })

  test('[PAGE13] the drawer has no fault that axe finds, with a screen reader’s mode too', async () => {
    await page.getByRole('tab', { name: 'index.js' }).press('Delete')
    await expectNoFaults(page)
    await view.picture('terminal-1440-light')
    await page.getByRole('button', { name: 'More of terminals' }).click()
    await page.getByRole('menuitem', { name: 'Screen reader mode: turn on' }).click()
    await page.locator('.xterm-accessibility').waitFor({ state: 'attached' })
    await expectNoFaults(page)
    await page.getByRole('button', { name: 'More of terminals' }).click()
    await page.getByRole('menuitem', { name: 'Screen reader mode: turn off' }).click()
  })

  test('[PAGE12] at 375 px the terminal is a page, with the keys that a touch screen has not', async () => {
    await using phone = await openPage(browser as Browser, server.url, {
      viewport: { width: 375, height: 720 },
      hasTouch: true,
      isMobile: true,
    })
    await phone.page.context().addCookies(await page.context().cookies())
    await phone.page.goto(page.url())
    await phone.page
      .getByRole('navigation', { name: 'Panels' })
      .getByRole('link', { name: 'Terminal' })
      .click()
    await expectScreen(phone.page, '$')
    await focusTerminal(phone.page)
    await phone.page.keyboard.type('sleep 1000')
    await phone.page.keyboard.press('Enter')
    await phone.page.getByRole('button', { name: 'Ctrl C' }).click()
    await expectScreen(phone.page, '^C')
    await typeLine(phone.page, 'echo narrow')
    await expectScreen(phone.page, '\nnarrow')
    expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBe(375)
    await expectNoFaults(phone.page)
    await phone.picture('terminal-375-light')
    expect(phone.complaints).toEqual([])
  })

  test('[PAGE30] nothing of a terminal’s code is loaded before one is opened', async () => {
    await using fresh = await openPage(browser as Browser, server.url)
    const loaded: string[] = []
    fresh.page.on('request', (request) => loaded.push(request.url()))
    await fresh.page.context().addCookies(await page.context().cookies())
    await fresh.page.goto(page.url())
    await fresh.page.getByRole('treeitem', { name: 'index.js' }).waitFor()
    expect(loaded.filter((url) => url.includes('live-terminal'))).toEqual([])
  })

  test('[PAGE36] without a terminal the drawer says what one is; the browser has complained of nothing', async () => {
    await page.getByRole('tab', { name: 'Terminal 1' }).press('Delete')
    await page.getByRole('heading', { name: 'No terminal is open' }).waitFor()
    await view.picture('terminal-empty-1440-light')
    expect(view.complaints).toEqual([])
  })

  test('[PAGE36] a workspace that cannot start says why, what was kept and what helps', async () => {
    await using server = await startTestServer({
      environment: { ATELIER_RUNTIME: 'docker', ATELIER_DOCKER_SOCKET: '/nowhere/docker.sock' },
    })
    await using view = await openPage(browser as Browser, server.url)
    await signUpThrough(view.page, 'Ada', 'ada@example.com')
    await createWorkspaceThrough(view.page, 'empty')
    await view.page.keyboard.press('Control+Backquote')
    const alert = view.page.getByRole('region', { name: 'Terminals' }).getByRole('alert')
    await alert.getByText('other terminals are as they were').waitFor()
    expect(await alert.innerText()).toMatch(/docker/i)
    await alert.getByRole('button', { name: 'Try again' }).waitFor()
    await view.picture('terminal-refused-1440-dark')
  })
})
