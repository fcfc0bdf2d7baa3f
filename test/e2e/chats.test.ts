import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  launchBrowser,
  type MockProviders,
  startMockProviders,
  startTestServer,
  type TestServer,
} from '@atelier/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectNoFaults, expectNoOverflow } from './no-faults.ts'
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

const story =
  'One word after the other arrives here, and none of them is told twice, and none of them is left out.'

describe.skipIf(browser === null)('chats in a real browser', () => {
  let providers: MockProviders
  let server: TestServer
  let view: OpenPage

  beforeAll(async () => {
    providers = await startMockProviders()
    server = await startTestServer({
      environment: { ...providers.environment, MODEL_FALLBACKS: 'gpt-6-luna=claude-haiku-5-5' },
    })
    view = await openPage(browser as Browser, server.url)
    await signUpThrough(view.page, 'Ada', 'ada@example.com')
    await createWorkspaceThrough(view.page, 'client')
    await importFolderThrough(view.page, project)
    await view.page.getByRole('button', { name: 'Dismiss' }).first().click()
  })
  beforeEach(() => providers.heal())
  afterAll(async () => {
    await view?.[Symbol.asyncDispose]()
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
    await providers?.[Symbol.asyncDispose]()
  })

  const lastArticle = (page: Page) => page.getByRole('article').last()
  const newChat = (page: Page) => page.getByRole('button', { name: 'New chat' }).click()
  const chatOf = (page: Page) => new URL(page.url()).searchParams.get('chat')

  /** The words of the answer, without what stands around them. */
  const words = (page: Page) => lastArticle(page).locator('p', { hasText: 'One word' }).innerText()

  test('[PAGE40] the first question gives a chat its address, its title and a place in the list', async () => {
    const { page } = view
    expect(chatOf(page)).toBeNull()
    await askThrough(page, 'What does the client do?')
    await finishedAnswer(page)
    expect(chatOf(page)).toMatch(/^chat_/)
    const assistant = page.getByRole('region', { name: 'Assistant' })
    await assistant.getByRole('heading', { name: 'What does the client do?' }).waitFor()
    await newChat(page)
    await page.getByRole('heading', { name: 'Ask about your code' }).waitFor()
    expect(chatOf(page)).toBeNull()
    await page.getByRole('link', { name: /^What does the client do\?/ }).waitFor()
    await view.picture('chat-new-1440-dark')
    await page.getByRole('link', { name: /^What does the client do\?/ }).click()
    await lastArticle(page).getByText('Mock answer to').waitFor()
  })

  test('[PAGE41] a reload in the middle of an answer finds it again, without a gap or a repeat', async () => {
    const { page } = view
    await newChat(page)
    providers.answer('Tell it slowly', { content: story })
    providers.fail({ kind: 'pause', after: 6 }, { times: 1 })
    await askThrough(page, 'Tell it slowly')
    await lastArticle(page).getByText('One word').waitFor()
    await page.reload()
    await lastArticle(page).getByText('One word').waitFor()
    expect(await words(page)).not.toBe(story)
    providers.resume()
    await finishedAnswer(page)
    expect(await words(page)).toBe(story)
  })

  test('[PAGE41] an answer goes on when the browser is closed, and is there when one comes back', async () => {
    const { page } = view
    providers.answer('Go on without me', { content: story })
    providers.fail({ kind: 'pause', after: 6 }, { times: 1 })
    const leaving = await page.context().newPage()
    await leaving.goto(page.url())
    await newChat(leaving)
    await askThrough(leaving, 'Go on without me')
    await lastArticle(leaving).getByText('One word').waitFor()
    const address = leaving.url()
    await leaving.close()
    providers.resume()
    await page.goto(address)
    await finishedAnswer(page)
    expect(await words(page)).toBe(story)
  })

  test('[PAGE41] Stop works before the first word', async () => {
    const { page } = view
    providers.fail({ kind: 'hang' }, { times: 1 })
    const asked = providers.requests.length
    await newChat(page)
    await askThrough(page, 'Never answered')
    await expect.poll(() => providers.requests.length).toBeGreaterThan(asked)
    await page.getByRole('button', { name: 'Stop' }).click()
    await lastArticle(page).getByText('You stopped this answer.').waitFor()
    await page.reload()
    await lastArticle(page).getByText('You stopped this answer.').waitFor()
    await page.getByRole('button', { name: 'Chats', exact: true }).click()
    await page.getByRole('link', { name: /^Never answered/ }).waitFor()
    await expect.poll(() => page.getByRole('img', { name: 'Being answered' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Chats', exact: true }).click()
  })

  test('[PAGE43] asking again folds away what was stopped', async () => {
    const { page } = view
    providers.answer('Never answered', { content: 'Answered after all.' })
    await page.getByRole('button', { name: 'Ask again' }).click()
    await lastArticle(page).getByText('Answered after all.').waitFor()
    await page.getByText('An earlier answer was stopped').waitFor()
    expect(await page.getByRole('article').count()).toBe(1)
  })

  test('[PAGE40] another model answers in the same chat, which another window then shows whole', async () => {
    const { page } = view
    await newChat(page)
    await askThrough(page, 'My favourite number is 4711.')
    await finishedAnswer(page)
    const address = page.url()
    const other = await page.context().newPage()
    await other.goto(address)
    await chooseModel(other, 'claude haiku')
    await askThrough(other, 'Which number was it?')
    await finishedAnswer(other)
    const last = providers.requests.at(-1)
    expect(last?.protocol).toBe('anthropic')
    expect(JSON.stringify(last?.body)).toContain('4711')
    expect(other.url()).toBe(address)
    await other.close()
    await page.reload()
    await page.getByRole('article').getByText('Which number was it?', { exact: true }).waitFor()
    await lastArticle(page).locator('footer').getByText('Claude Haiku').waitFor()
  })

  test('[PAGE42] tools are rows with arguments, result and duration, and are there after a reload', async () => {
    const { page } = view
    await newChat(page)
    const toolCalls = [
      { name: 'grep', arguments: { query: 'readEventStream' } },
      { name: 'read_file', arguments: { path: 'nowhere.ts' } },
    ]
    providers.answer('Look it up', { content: '', toolCalls }, { afterTools: false })
    providers.answer('Look it up', { content: 'It is in src/event-stream.ts:1-20.' }, { afterTools: true })
    await askThrough(page, 'Look it up')
    await finishedAnswer(page)
    for (const visit of ['live', 'stored']) {
      const rows = lastArticle(page).getByRole('list', { name: 'Tools' }).getByRole('listitem')
      await rows.first().waitFor()
      expect({ visit, count: await rows.count() }).toEqual({ visit, count: 2 })
      expect(await rows.first().innerText()).toMatch(/Looked for readEventStream\s+\d+ lines.*\s+[\d.,]+ m?s/)
      await rows.first().locator('summary').click()
      await rows.first().getByText('"query": "readEventStream"').waitFor()
      await rows.first().getByText('event-stream.ts:').first().waitFor()
      await rows.last().locator('summary').click()
      await rows.last().getByText('Error', { exact: true }).waitFor()
      if (visit === 'live') {
        await view.picture('chat-tools-1440-dark')
        await page.reload()
      }
    }
    await expectNoFaults(page)
    await view.picture('chat-tools-1440-light')
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  })

  test('[PAGE42] a person may keep the model from looking by itself', async () => {
    const { page } = view
    await newChat(page)
    await page.getByRole('button', { name: 'The model may look into the files' }).click()
    await askThrough(page, 'Do not look anything up')
    await finishedAnswer(page)
    expect(providers.requests.at(-1)?.body).not.toHaveProperty('tools')
    await page.reload()
    await page.getByRole('button', { name: 'The model may look into the files', pressed: false }).click()
    await askThrough(page, 'Now you may')
    await expect.poll(() => providers.requests.at(-1)?.body).toHaveProperty('tools')
    await finishedAnswer(page)
  })

  test('[PAGE43] a fallback is told with the reason, and every attempt can be unfolded', async () => {
    const { page } = view
    await newChat(page)
    await chooseModel(page, 'luna')
    providers.answer('Who answers', {
      content: 'The other one.',
      usage: { input_tokens: 1000, output_tokens: 20 },
    })
    providers.fail({ kind: 'status', status: 429, retryAfterSeconds: 60 }, { protocol: 'openai', times: 1 })
    await askThrough(page, 'Who answers?')
    await finishedAnswer(page)
    const footer = lastArticle(page).locator('footer')
    expect(await footer.innerText()).toMatch(/Claude Haiku[\s\S]*1,000 in, 20 out/)
    await footer.getByText('after GPT-6 Luna failed: 429').click()
    const attempts = footer.getByRole('list', { name: 'Attempts' }).getByRole('listitem')
    expect(await attempts.allInnerTexts()).toEqual([
      expect.stringContaining('GPT-6 Luna failed: 429'),
      expect.stringMatching(/Claude Haiku.* answered/),
    ])
    await view.picture('chat-fallback-1440-dark')
    await page.reload()
    await lastArticle(page).getByText('after GPT-6 Luna failed: 429').waitFor()
  })

  test('[PAGE43] a budget that does not suffice is told as such, also after a reload', async () => {
    const { page } = view
    await newChat(page)
    await setBudget(page, '0.00000001')
    await chooseModel(page, 'claude haiku')
    await askThrough(page, 'Is there money left?')
    for (const visit of ['live', 'stored']) {
      const notice = lastArticle(page).getByRole('alert')
      await notice.getByText('The budget does not suffice', { exact: true }).waitFor()
      expect({ visit, retry: await notice.getByRole('button', { name: 'Try again' }).isEnabled() }).toEqual({
        visit,
        retry: true,
      })
      if (visit === 'live') {
        await view.picture('chat-budget-1440-dark')
        await page.reload()
      }
    }
    await setBudget(page, '1000')
    providers.answer('Is there money left?', { content: 'Now there is.' })
    await lastArticle(page).getByRole('button', { name: 'Try again' }).click()
    await lastArticle(page).getByText('Now there is.').waitFor()
    await page.getByText('An earlier answer failed').waitFor()
  })

  test('[PAGE43] an answer for which the code could not be searched says so', async () => {
    const { page } = view
    // What a database without its index of vectors would make of the same answer.
    await page.route('**/api/chat/mongodb?chatId=*', async (route) => {
      const text = await (await route.fetch()).text()
      await route.fulfill({ body: text.replaceAll(/"status":"(in)?active"/g, '"status":"unavailable"') })
    })
    await page.reload()
    await lastArticle(page).getByText('The code could not be searched for this answer').waitFor()
    await page.unroute('**/api/chat/mongodb?chatId=*')
  })

  test('[PAGE40] chats are found by their words, renamed, saved and deleted', async () => {
    const { page } = view
    await page.getByRole('button', { name: 'Chats', exact: true }).click()
    const rows = page.getByRole('link', { name: /\d messages?/ })
    await expect.poll(() => rows.count()).toBe(9)
    await view.picture('chat-history-1440-dark')
    await expectNoFaults(page)
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })

    await page.getByLabel('Search chats').fill('4711')
    await expect.poll(() => rows.count()).toBe(1)
    await page.getByRole('button', { name: /^Chat “My favourite number/ }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByLabel('Title').fill('Numbers')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('link', { name: /^Numbers/ }).waitFor()

    const markdown = await saved(page, 'Chat “Numbers”', 'Save as Markdown')
    expect(markdown.name).toBe('Numbers.md')
    expect(markdown.text).toMatch(/^# Numbers\n[\s\S]*4711[\s\S]*Which number was it\?/)
    const json = await saved(page, 'Chat “Numbers”', 'Save as JSON')
    expect(json.name).toBe('Numbers.json')
    expect(JSON.parse(json.text)).toMatchObject({
      chat: { title: 'Numbers' },
      messages: [{ position: 1, role: 'user' }, { position: 2 }, { position: 3 }, { position: 4 }],
    })

    await page.getByLabel('Search chats').fill('no chat says this')
    await page.getByText('No chat has these words').waitFor()
    await page.getByLabel('Search chats').fill('Numbers')
    await page.getByRole('link', { name: /^Numbers/ }).click()
    await lastArticle(page).getByText('Which number was it?', { exact: true }).waitFor()
    const address = page.url()
    await page.getByRole('button', { name: 'This chat' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete chat' }).click()
    await page.getByRole('heading', { name: 'Ask about your code' }).waitFor()
    await page.getByRole('button', { name: 'Chats', exact: true }).click()
    await expect.poll(() => rows.count()).toBe(8)
    await page.goto(address)
    await page.getByRole('heading', { name: 'This chat is not here' }).waitFor()
    await page.getByRole('button', { name: 'New chat' }).last().click()
    await page.getByRole('heading', { name: 'Ask about your code' }).waitFor()
  })

  test('[PAGE40] a long chat is read in pages, and what one reads stays in its place', async () => {
    const { page } = view
    const workspaceId = /ws_\w+/.exec(page.url())?.[0]
    const messages = Array.from({ length: 75 }, (_none, index) => [
      { role: 'user', content: `Question ${index + 1}` },
      { role: 'assistant', content: `Answer ${index + 1}` },
    ]).flat()
    const headers = { origin: new URL(page.url()).origin }
    const data = { title: 'Long', workspaceId, messages }
    const created = await page.request.post('/api/chat/mongodb', { data, headers })
    const { chat } = ((await created.json()) as { data: { chat: { id: string } } }).data
    await page.goto(`/w/${workspaceId}/files?chat=${chat.id}`)
    await page.getByText('Answer 75', { exact: true }).waitFor()
    expect(await page.getByRole('article').count()).toBe(50)
    const earlier = page.getByRole('button', { name: 'Show earlier messages' })
    await earlier.scrollIntoViewIfNeeded()
    const first = page.getByText('Question 26', { exact: true })
    const place = async () => Math.round((await first.boundingBox())?.y ?? 0)
    const before = await place()
    await earlier.click()
    await page.getByText('Question 1', { exact: true }).waitFor({ state: 'attached' })
    expect(await earlier.count()).toBe(0)
    await expect.poll(async () => Math.abs((await place()) - before)).toBeLessThan(60)
  })

  test('[PAGE12, PAGE13] chats and their list fit a narrow screen, without a fault in either theme', async () => {
    const { page } = view
    await page.setViewportSize({ width: 375, height: 760 })
    await page.goto(page.url().replace(/\/files.*/, '/chat'))
    await page.getByRole('link', { name: /^Is there money left\?/ }).click()
    await lastArticle(page).locator('footer').waitFor()
    await expectNoOverflow(page)
    await expectNoFaults(page)
    await view.picture('chat-375-light')
    await page.getByRole('button', { name: 'Chats', exact: true }).click()
    await page.getByRole('link', { name: /^Look it up/ }).waitFor()
    await expectNoOverflow(page)
    await expectNoFaults(page)
    await view.picture('chat-history-375-light')
    await page.getByRole('link', { name: /^Look it up/ }).click()
    await lastArticle(page).locator('summary').first().click()
    await expectNoOverflow(page)
    await view.picture('chat-tools-375-light')
    expect(view.complaints).toEqual([])
  })
})

async function chooseModel(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Model:/ }).click()
  await page.getByPlaceholder('Search models and providers').fill(name)
  await page.getByRole('option').filter({ hasNotText: 'Best' }).first().click()
}

/** Sets what everybody's calls may cost in a day, as an administrator's program does. */
async function setBudget(page: Page, cap: string): Promise<void> {
  const data = { subject: 'everyone', period: 'day', cap }
  const headers = { origin: new URL(page.url()).origin }
  const answer = await page.request.put('/api/admin/budgets', { data, headers })
  expect(answer.status()).toBe(200)
}

async function saved(page: Page, menu: string, item: string): Promise<{ name: string; text: string }> {
  await page.getByRole('button', { name: menu }).click()
  const downloading = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: item }).click()
  const download = await downloading
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') }
}
