import { launchBrowser, startTestServer, type TestServer } from '@atelier/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorkspaceThrough, type OpenPage, openPage, signUpThrough } from './open-page.ts'

const browser: Browser | null = await launchBrowser()

describe.skipIf(browser === null)('people and their workspaces in a real browser', () => {
  let server: TestServer
  let ada: OpenPage
  let grace: OpenPage

  beforeAll(async () => {
    server = await startTestServer()
    ada = await openPage(browser as Browser, server.url)
    grace = await openPage(browser as Browser, server.url)
    await signUpThrough(ada.page, 'Ada', 'ada@example.com')
    await signUpThrough(grace.page, 'Grace', 'grace@example.com')
    await createWorkspaceThrough(ada.page, 'engine')
  })
  afterAll(async () => {
    await ada?.[Symbol.asyncDispose]()
    await grace?.[Symbol.asyncDispose]()
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  test('[PAGE14] an owner adds a person, who sees the workspace and only what the role allows', async () => {
    const { page } = ada
    await page.getByRole('link', { name: 'Workspace settings' }).click()
    await page.getByLabel('Add a person').fill('nobody@example.com')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('alert').first().waitFor()
    await page.getByLabel('Add a person').fill('grace@example.com')
    await page.getByLabel('Role', { exact: true }).selectOption('viewer')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByLabel('Role of Grace').waitFor()
    await ada.picture('workspace-settings-1440-dark')

    await grace.page.reload()
    await grace.page.getByRole('link', { name: 'engine' }).click()
    await grace.page.getByText('An editor or owner of this workspace can import a project.').waitFor()
    expect(await grace.page.getByRole('button', { name: 'Import' }).count()).toBe(0)
    await grace.page.getByRole('link', { name: 'Workspace settings' }).click()
    await grace.page.getByText('Embedded with').waitFor()
    expect(await grace.page.getByRole('button', { name: /Rename|Delete workspace/ }).count()).toBe(0)
    expect(await grace.page.getByLabel('Role of Ada').isDisabled()).toBe(true)
  })

  test('[PAGE14] the last owner cannot step down, and is told so; another role takes effect', async () => {
    const { page } = ada
    await page.getByLabel('Role of Ada').selectOption('viewer')
    await page.getByRole('region', { name: 'Notifications' }).getByText(/owner/).waitFor()
    await page.getByLabel('Role of Grace').selectOption('owner')
    await expect.poll(() => page.getByLabel('Role of Grace').inputValue()).toBe('owner')
    expect(await page.getByLabel('Role of Ada').inputValue()).toBe('owner')
  })

  test('[PAGE14] a workspace is renamed, and deleted only when its name is typed', async () => {
    const { page } = ada
    await page.goto('/')
    await menuItem(page, 'Actions for engine', 'Rename')
    await page.getByRole('dialog').getByLabel('Name').fill('motor')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('link', { name: 'motor' }).waitFor()
    await menuItem(page, 'Actions for motor', 'Delete')
    const confirm = page.getByRole('button', { name: 'Delete workspace' })
    await page.getByLabel('Type “motor” to confirm').fill('moto')
    expect(await confirm.isDisabled()).toBe(true)
    await page.getByLabel('Type “motor” to confirm').fill('motor')
    await confirm.click()
    await page.getByText('“motor” is deleted').waitFor()
    await page.getByRole('heading', { name: 'Welcome, Ada' }).waitFor()

    await grace.page.reload()
    await grace.page.getByRole('heading', { name: 'No such workspace' }).waitFor()
  })

  test('[PAGE14] an API key works, is shown once, and is revoked', async () => {
    const { page } = ada
    await page.goto('/settings/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Must name at least one scope').waitFor()
    await page.getByLabel('Name').fill('nightly')
    await page.getByLabel('List and read workspaces').check()
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = await page.locator('dialog code', { hasText: /^atl_/ }).innerText()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'I have stored it' }).click()
    const list = () => fetch(`${server.url}/api/workspaces`, { headers: { 'x-api-key': key } })
    expect((await list()).status).toBe(200)
    expect(await page.content()).not.toContain(key)
    await page.getByRole('button', { name: 'Revoke nightly' }).click()
    await page.getByRole('button', { name: 'Revoke key' }).click()
    await page.getByRole('heading', { name: 'No keys yet' }).waitFor()
    expect((await list()).status).toBe(401)
  })

  test('[PAGE2] a session that ends elsewhere leads to sign-in and back to the same place', async () => {
    const { page } = ada
    await page.goto('/')
    await createWorkspaceThrough(page, 'again')
    const address = page.url()
    await page.request.post('/api/auth/sign-out', { headers: { origin: server.url } })
    await page.getByRole('button', { name: 'Read again' }).click()
    await page.waitForURL('**/sign-in?next=*')
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page.getByLabel('Password').fill('wrong horse battery')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true')
    await page.getByLabel('Password').fill('correct horse battery')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Drop a project here' }).waitFor()
    expect(page.url()).toBe(address)
    expect([...ada.complaints, ...grace.complaints]).toEqual([])
  })
})

async function menuItem(page: Page, menu: string, item: string): Promise<void> {
  await page.getByRole('button', { name: menu }).click()
  await page.getByRole('menuitem', { name: item }).click()
}
