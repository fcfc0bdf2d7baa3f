import { ApiError, type Client, createClient } from '@atelier/client'
import {
  type CallInput,
  chat,
  createWorkspace,
  deleteBudget,
  listApiKeys,
  listBudgets,
  readUsage,
  setBudget,
} from '@atelier/contract'
import {
  type MockProviders,
  signUpPerson,
  startMockProviders,
  startTestServer,
  type TestServer,
} from '@atelier/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const cap = 0.003
const model = 'gpt-6-luna'
const messages = [{ role: 'user' as const, content: 'How long is a day?' }]

let mock: MockProviders
let server: TestServer
let admin: Client

beforeAll(async () => {
  mock = await startMockProviders()
  mock.answer('How long is a day?', {
    content: 'A day has 24 hours.',
    usage: { prompt_tokens: 20, completion_tokens: 60 },
  })
  server = await startTestServer({ environment: mock.environment })
  const { headers } = await signUpPerson(server.url)
  admin = createClient({ baseUrl: server.url, headers, validateAnswers: true })
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await mock?.[Symbol.asyncDispose]()
})

/** Somebody new, with one key and one workspace. */
async function somebody() {
  const person = await signUpPerson(server.url)
  const signedIn = createClient({ baseUrl: server.url, headers: person.headers, validateAnswers: true })
  const workspace = await signedIn.call(createWorkspace, { body: { name: 'Budgeted' } })
  const headers = { 'x-api-key': await person.apiKey() }
  const client = createClient({ baseUrl: server.url, headers, validateAnswers: true })
  const key = (await signedIn.call(listApiKeys)).items[0]
  return { client, userId: person.user.id, workspaceId: workspace.id, apiKeyId: key?.id ?? '' }
}

type Somebody = Awaited<ReturnType<typeof somebody>>
type Budget = CallInput<typeof setBudget>['body']

const subjects: [string, (who: Somebody) => Budget][] = [
  ['a person', ({ userId }) => ({ subject: 'user', subjectId: userId, period: 'day', cap: String(cap) })],
  [
    'a workspace',
    ({ workspaceId }) => ({
      subject: 'workspace',
      subjectId: workspaceId,
      period: 'month',
      cap: String(cap),
    }),
  ],
  [
    'a key',
    ({ apiKeyId }) => ({ subject: 'api-key', subjectId: apiKeyId, period: 'total', cap: String(cap) }),
  ],
  ['everyone', () => ({ subject: 'everyone', period: 'day', cap: String(cap) })],
]

describe('a budget', () => {
  it.each(subjects)('[LED2, LED4] of %s is never overspent by 100 requests at once', async (_, budgetOf) => {
    const who = await somebody()
    const { id } = await admin.call(setBudget, { body: budgetOf(who) })
    const asked = Array.from({ length: 100 }, () =>
      who.client.call(chat, { body: { messages, model, maxTokens: 200, workspaceId: who.workspaceId } }).then(
        () => 'answered',
        (error: unknown) => error,
      ),
    )
    const outcomes = await Promise.all(asked)
    const answered = outcomes.filter((outcome) => outcome === 'answered').length
    for (const refusal of outcomes.filter((outcome) => outcome !== 'answered')) {
      expect(refusal).toBeInstanceOf(ApiError)
      expect(refusal).toMatchObject({ status: 429, details: { kind: 'budget' } })
    }
    expect(answered).toBeGreaterThan(0)
    expect(answered).toBeLessThan(100)
    const budget = async () => (await admin.call(listBudgets)).items.find((one) => one.id === id)
    await expect.poll(budget).toMatchObject({ reserved: '0' })
    await expect.poll(async () => (await who.client.call(readUsage)).totals.calls).toBe(answered)
    const { cost, estimated } = (await who.client.call(readUsage)).totals
    expect(await budget()).toMatchObject({ spent: cost })
    expect(Number(cost)).toBeLessThanOrEqual(cap)
    expect(estimated).toBe(0)
    await admin.call(deleteBudget, { params: { budgetId: id } })
  })
})
