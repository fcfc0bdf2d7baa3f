import type { Budget, ModelRecord, Usage } from '@atelier/contract'
import { describeOnEveryDatabase, openTestDatabase } from '@atelier/testkit'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import {
  createLedger,
  type Ledger,
  type PlannedCall,
} from '../../packages/server/src/features/gateway/ledger.ts'
import { createLedgerStore } from '../../packages/server/src/features/gateway/ledger-store.ts'
import type { Database } from '../../packages/server/src/platform/db/database.ts'
import { costOf, sumOfCosts } from '../../packages/server/src/platform/models/cost.ts'
import { noUsage } from '../../packages/server/src/platform/models/usage.ts'

const silent = { error() {} }
const owner = { userId: 'usr_a', workspaceId: 'ws_a', apiKeyId: 'key_a' }
const today = () => new Date().toISOString().slice(0, 10)

const model = (pricing: ModelRecord['pricing']): ModelRecord => ({
  key: 'm',
  id: 'p/m',
  name: 'M',
  provider: 'p',
  family: 'f',
  contextWindow: 100_000,
  maxOutputTokens: 10_000,
  pricing,
  capabilities: { streaming: true, tools: false, vision: false, reasoning: false, json: false },
  status: 'active',
  tasks: [],
  available: true,
})

/** 1 USD a million tokens of the prompt, 10 USD of the answer. */
const priced = model({ input: '1', output: '10' })

const usage = (inputTokens: number, outputTokens: number): Usage => ({
  ...noUsage,
  inputTokens,
  outputTokens,
})

describeOnEveryDatabase('ledger', (engine) => {
  let database: Database
  let store: ReturnType<typeof createLedgerStore>
  let ledger: Ledger

  beforeAll(async () => {
    database = await openTestDatabase(engine)
    store = createLedgerStore({ database })
  })
  afterAll(() => database[Symbol.asyncDispose]())
  beforeEach(() => {
    ledger = createLedger({
      store,
      cautiousRates: () => ({ input: '50', output: '100' }),
      clock: Date.now,
      logger: silent,
    })
  })
  afterEach(async () => {
    await ledger[Symbol.asyncDispose]()
    await database.kysely.deleteFrom('budgets').execute()
    await database.kysely.deleteFrom('usage_entries').execute()
  })

  const setBudget = (budget: Partial<Budget> & { cap: string }) =>
    store.setBudget({ subject: 'user', subjectId: 'usr_a', period: 'total', ...budget })

  const plan = (changes: Partial<PlannedCall> = {}): PlannedCall => ({
    model: priced,
    promptBytes: 1_000,
    maxTokens: 1_000,
    ...changes,
  })

  const end = (used: Usage, from = priced) => ({
    ...owner,
    runId: 'run_a',
    model: from,
    finishReason: 'stop' as const,
    usage: used,
    cost: costOf(used, from.pricing),
  })

  /** Waits until what was settled is written. */
  async function written(): Promise<void> {
    await ledger[Symbol.asyncDispose]()
  }

  const onlyBudget = async () => (await store.budgets())[0]

  it('[LED1] each call that ends is one entry with disjoint tokens and its exact cost', async () => {
    const used = {
      inputTokens: 10,
      cachedInputTokens: 20,
      cacheWriteTokens: 30,
      outputTokens: 40,
      reasoningTokens: 50,
      estimated: true,
    }
    ledger.settle(await ledger.reserve(owner, plan()), end(used))
    await written()
    const rows = await database.kysely.selectFrom('usage_entries').selectAll().execute()
    expect(rows).toMatchObject([
      {
        run_id: 'run_a',
        user_id: 'usr_a',
        workspace_id: 'ws_a',
        api_key_id: 'key_a',
        model: 'm',
        provider: 'p/m',
        input_tokens: 10,
        cached_input_tokens: 20,
        cache_write_tokens: 30,
        output_tokens: 40,
        reasoning_tokens: 50,
        estimated: true,
        cost: '0.00096',
      },
    ])
  })

  it('[LED2] a hundred parallel calls never overspend, and use what there is', async () => {
    await setBudget({ cap: '0.05' })
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const leave = await ledger.reserve(owner, plan()).catch(() => null)
        if (leave === null) return 'refused'
        const { spent, reserved } = (await onlyBudget()) ?? { spent: '9', reserved: '9' }
        expect(Number(spent) + Number(reserved)).toBeLessThanOrEqual(0.05)
        // At most what was granted; every third call gives nothing.
        if (index % 3 === 0) ledger.release(leave)
        else ledger.settle(leave, end(usage(1_000, leave.maxOutputTokens ?? 0)))
        return 'made'
      }),
    )
    await written()
    await expect.poll(async () => (await onlyBudget())?.reserved).toBe('0')
    const budget = await onlyBudget()
    const costs = await database.kysely.selectFrom('usage_entries').select('cost').execute()
    expect(budget?.spent).toBe(sumOfCosts(costs.map(({ cost }) => cost)))
    expect(Number(budget?.spent)).toBeLessThanOrEqual(0.05)
    expect(outcomes.filter((outcome) => outcome === 'made').length).toBeGreaterThanOrEqual(4)
    expect(outcomes).toContain('refused')
  })

  it('[LED3] where not all fits, the answer is as long as the money allows', async () => {
    await setBudget({ cap: '0.0065' })
    // 1,000 bytes cost at most 0.001; 0.0055 are 550 tokens of an answer.
    const leave = await ledger.reserve(owner, plan())
    expect(leave.maxOutputTokens).toBe(550)
    await expect(ledger.reserve(owner, plan())).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      details: { kind: 'budget' },
    })
    ledger.settle(leave, end(usage(200, 100)))
    await written()
    expect(await onlyBudget()).toMatchObject({ spent: '0.0012', reserved: '0' })
  })

  it.each([
    ['everyone', { subject: 'everyone', subjectId: null }],
    ['user', { subject: 'user', subjectId: 'usr_a' }],
    ['workspace', { subject: 'workspace', subjectId: 'ws_a' }],
    ['api-key', { subject: 'api-key', subjectId: 'key_a' }],
  ] as const)('[LED4] a budget binds the calls of its subject and no others: %s', async (subject, budget) => {
    await setBudget({ ...budget, cap: '0' })
    await expect(ledger.reserve(owner, plan())).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    const other = { userId: 'usr_b', workspaceId: 'ws_b', apiKeyId: null }
    if (subject === 'everyone')
      await expect(ledger.reserve(other, plan())).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    else expect((await ledger.reserve(other, plan())).maxOutputTokens).toBeUndefined()
  })

  it('[LED4] all budgets of a call must suffice, and each is charged', async () => {
    await setBudget({ cap: '1' })
    await setBudget({ subject: 'workspace', subjectId: 'ws_a', cap: '0.004' })
    const leave = await ledger.reserve(owner, plan())
    expect(leave.maxOutputTokens).toBe(300)
    ledger.settle(leave, end(usage(1_000, 300)))
    await written()
    expect((await store.budgets()).map(({ spent, reserved }) => [spent, reserved])).toEqual([
      ['0.004', '0'],
      ['0.004', '0'],
    ])
  })

  it('[LED5] a period begins anew, and says when', async () => {
    await setBudget({ period: 'day', cap: '0.001' })
    await database.kysely.updateTable('budgets').set({ spent: '0.001' }).execute()
    const refusal = await ledger.reserve(owner, plan()).catch((error: unknown) => error)
    const { retryAfterSeconds } = (refusal as { details: { retryAfterSeconds: number } }).details
    expect(retryAfterSeconds).toBeGreaterThan(0)
    expect(retryAfterSeconds).toBeLessThanOrEqual(86_400)
    expect((refusal as Error).message).toMatch(/more is there in \d+ (hours|minutes|seconds?)$/)
    await database.kysely
      .updateTable('budgets')
      .set({ period_start: sql<Date>`budget_period_start('day', now()) - interval '1 day'`, cap: '1' })
      .execute()
    expect((await onlyBudget())?.spent).toBe('0')
    ledger.settle(await ledger.reserve(owner, plan()), end(usage(1_000, 0)))
    await written()
    expect(await onlyBudget()).toMatchObject({ spent: '0.001', reserved: '0' })
  })

  it('[LED6] an unknown price is null in the entry, and budgets are charged the dearest known', async () => {
    const unpriced = model(null)
    await setBudget({ cap: '1' })
    const leave = await ledger.reserve(owner, plan({ model: unpriced }))
    ledger.settle(leave, end(usage(1_000, 100), unpriced))
    await written()
    expect(await database.kysely.selectFrom('usage_entries').select('cost').execute()).toEqual([
      { cost: null },
    ])
    expect(await onlyBudget()).toMatchObject({ spent: '0.06', reserved: '0' })
  })

  it('[LED7] what a dead process has reserved is free again after an hour', async () => {
    await setBudget({ cap: '0.011' })
    await ledger.reserve(owner, plan())
    await database.kysely
      .updateTable('budget_reservations')
      .set({ expires_at: new Date(0) })
      .execute()
    await store.releaseExpired()
    expect(await onlyBudget()).toMatchObject({ spent: '0', reserved: '0' })
  })

  it('[LED8] usage is told by day, model, workspace and person; unknown costs are in no sum', async () => {
    const leave = () => ledger.reserve(owner, plan())
    ledger.settle(await leave(), end(usage(1_000, 10)))
    ledger.settle(await leave(), end(usage(2_000, 20)))
    ledger.settle(await leave(), {
      ...end(usage(5, 5), model(null)),
      workspaceId: null,
      model: { ...model(null), key: 'u' },
    })
    ledger.settle(await leave(), { ...end(usage(7, 7)), userId: 'usr_b' })
    await written()
    const period = { from: today(), to: today() }
    const report = await store.report(period, 'usr_a')
    expect(report.totals).toEqual({
      calls: 3,
      inputTokens: 3_005,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 35,
      reasoningTokens: 0,
      cost: '0.0033',
      unpriced: 1,
      estimated: 0,
    })
    expect(report.byDay).toMatchObject([{ group: today(), calls: 3 }])
    expect(report.byModel).toMatchObject([
      { group: 'm', calls: 2, cost: '0.0033', unpriced: 0 },
      { group: 'u', calls: 1, cost: '0', unpriced: 1 },
    ])
    expect(report.byWorkspace).toMatchObject([{ group: 'ws_a' }, { group: null }])
    expect((await store.report(period, null)).byUser.map(({ group }) => group).sort()).toEqual([
      'usr_a',
      'usr_b',
    ])
    const before = { from: '2000-01-01', to: '2000-01-02' }
    expect(await store.report(before, 'usr_a')).toMatchObject({ totals: undefined, byDay: [] })
  })
})
