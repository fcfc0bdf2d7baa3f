import type { Client } from '@atelier/client'
import {
  chat,
  chatEnhanced,
  chatUnified,
  deleteBudget,
  listBudgets,
  readAllUsage,
  readUsage,
  setBudget,
} from '@atelier/contract'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  brokenAnswer,
  type ChatDatabase,
  type ChatTestServer,
  openChatDatabase,
  people,
  readAll,
  refusal,
  startChatTestServer,
  workspaceId,
} from './chat-test-server.ts'

const messages = [{ role: 'user' as const, content: 'How are routes matched?' }]

let database: ChatDatabase
let server: ChatTestServer
let admin: Client

beforeAll(async () => {
  database = await openChatDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  server = await startChatTestServer(database)
  admin = server.clientOf(people[1], { admin: true })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await database.kysely.deleteFrom('usage_entries').execute()
  await database.kysely.deleteFrom('budgets').execute()
})

const ask = (model = 'test') => server.client.call(chat, { body: { messages, model, workspaceId } })
const usage = () => server.client.call(readUsage)
const limit = (cap: string) =>
  admin.call(setBudget, { body: { subject: 'user', subjectId: people[0], period: 'month', cap } })

describe('usage', () => {
  it('[LED1, LED8] tells what whole, streamed and broken answers used, and not what failed before its beginning', async () => {
    await ask()
    await ask('unpriced')
    server.scripts.set('second', brokenAnswer)
    await readAll(await server.client.stream(chatEnhanced, { body: { message: 'Hi', model: 'second' } }))
    server.scripts.set('test', refusal)
    await ask().catch(() => undefined)
    await expect.poll(async () => (await usage()).totals.calls).toBe(3)
    const { totals, byModel, byWorkspace, byDay, budgets } = await usage()
    expect(totals).toMatchObject({ unpriced: 1, estimated: 1 })
    expect(byModel.map(({ model }) => model).sort()).toEqual(['second', 'test', 'unpriced'])
    expect(byModel.find(({ model }) => model === 'test')).toMatchObject({
      calls: 1,
      cost: '0.000134',
      cachedInputTokens: 40,
    })
    expect(byWorkspace.map((row) => row.workspaceId).sort()).toEqual([null, workspaceId])
    expect(byDay).toHaveLength(1)
    expect(budgets).toEqual([])
  })

  it('[LED8] is the caller’s own; administrators see everybody’s', async () => {
    await ask()
    await expect.poll(async () => (await usage()).totals.calls).toBe(1)
    expect((await server.clientOf(people[1]).call(readUsage)).totals.calls).toBe(0)
    expect((await admin.call(readAllUsage)).byUser).toMatchObject([{ userId: people[0], calls: 1 }])
    await expect(server.client.call(readAllUsage)).rejects.toMatchObject({ status: 403 })
  })

  it.each([
    ['the end before the beginning', { from: '2026-02-02', to: '2026-02-01' }],
    ['more than a year', { from: '2020-01-01', to: '2026-01-01' }],
  ])('[LED8] a period is refused by name: %s', async (_, query) => {
    await expect(server.client.call(readUsage, { query })).rejects.toMatchObject({
      status: 400,
      details: { field: 'from' },
    })
  })
})

describe('budgets', () => {
  it('[LED9] are set, replaced, listed and removed by administrators only', async () => {
    const budget = await limit('5')
    expect(budget).toMatchObject({
      subject: 'user',
      subjectId: people[0],
      cap: '5',
      spent: '0',
      reserved: '0',
    })
    expect((await limit('7.50')).id).toBe(budget.id)
    expect((await admin.call(listBudgets)).items).toMatchObject([{ cap: '7.5' }])
    expect((await usage()).budgets).toMatchObject([{ cap: '7.5' }])
    await admin.call(deleteBudget, { params: { budgetId: budget.id } })
    await expect(admin.call(deleteBudget, { params: { budgetId: budget.id } })).rejects.toMatchObject({
      status: 404,
    })
    await expect(server.client.call(listBudgets)).rejects.toMatchObject({ status: 403 })
  })

  it('[LED3, LED9] one that is spent answers 429 before a provider is asked', async () => {
    await limit('0')
    await expect(ask()).rejects.toMatchObject({
      status: 429,
      code: 'RATE_LIMITED',
      details: { kind: 'budget', attempts: [{ model: 'test', outcome: 'budget' }] },
    })
    const stream = server.client.stream(chatEnhanced, { body: { message: 'Hi', model: 'test' } })
    await expect(stream).rejects.toMatchObject({ status: 429 })
    expect(server.asked).toEqual([])
  })

  it('[LED3] the next candidate answers where it can be paid', async () => {
    await limit('0')
    const answer = await server.client.call(chatUnified, { body: { messages, models: ['test', 'local'] } })
    expect(answer).toMatchObject({
      model: 'local',
      cost: '0',
      attempts: [{ outcome: 'budget' }, { outcome: 'answered' }],
    })
  })

  it('[LED3] the answer is limited to what is left', async () => {
    await limit('0.02')
    await ask()
    const limited = server.asked[0]?.call.maxOutputTokens
    expect(limited).toBeGreaterThan(256)
    expect(limited).toBeLessThan(2_000)
    await expect
      .poll(async () => (await usage()).budgets[0])
      .toMatchObject({ spent: '0.000134', reserved: '0' })
  })
})
