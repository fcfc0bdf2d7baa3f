import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { ApiKeyId, BudgetId, UserId, WorkspaceId } from './ids.ts'
import { Money } from './models.ts'

const tag = 'Usage'

const Count = z.number().int().nonnegative()

/** What some calls used, in disjoint buckets. */
export const UsageTotals = z.object({
  calls: Count,
  inputTokens: Count,
  cachedInputTokens: Count,
  cacheWriteTokens: Count,
  outputTokens: Count,
  reasoningTokens: Count,
  cost: Money.describe('of the calls whose price is known'),
  unpriced: Count.describe('calls whose price is not known: they are in no cost'),
  estimated: Count.describe('calls whose tokens we counted, because the provider did not report'),
})
export type UsageTotals = z.infer<typeof UsageTotals>

export const Budget = z.object({
  id: BudgetId,
  subject: z.enum(['everyone', 'user', 'workspace', 'api-key']).describe('whose calls count'),
  subjectId: z.string().nullable().describe('null for everyone together'),
  period: z.enum(['day', 'month', 'total']).describe('of the calendar in UTC'),
  cap: Money,
  spent: Money.describe('in the present period'),
  reserved: Money.describe('what calls under way may cost at most'),
})
export type Budget = z.infer<typeof Budget>

const Period = z.strictObject({
  from: z.iso.date().optional().describe('first day, UTC; 30 days ago where absent'),
  to: z.iso.date().optional().describe('last day, UTC; today where absent'),
})

const UsageReport = z.object({
  from: z.iso.date(),
  to: z.iso.date(),
  totals: UsageTotals,
  byDay: z.array(UsageTotals.extend({ day: z.iso.date() })).describe('days with calls, oldest first'),
  byModel: z.array(UsageTotals.extend({ model: z.string() })).describe('the dearest first'),
  byWorkspace: z.array(UsageTotals.extend({ workspaceId: WorkspaceId.nullable() })),
})

export const readUsage = endpoint({
  name: 'readUsage',
  method: 'GET',
  path: '/api/usage',
  tag,
  summary: 'What the caller’s calls of models used and cost, and the budgets that bind them',
  access: 'user',
  scope: 'ai',
  rate: 'standard',
  query: Period,
  data: UsageReport.extend({ budgets: z.array(Budget) }),
  message: 'Usage read',
})

export const readAllUsage = endpoint({
  name: 'readAllUsage',
  method: 'GET',
  path: '/api/admin/usage',
  tag,
  summary: 'What everybody’s calls of models used and cost',
  access: 'admin',
  rate: 'standard',
  query: Period,
  data: UsageReport.extend({ byUser: z.array(UsageTotals.extend({ userId: UserId })) }),
  message: 'Usage read',
})

export const listBudgets = endpoint({
  name: 'listBudgets',
  method: 'GET',
  path: '/api/admin/budgets',
  tag,
  summary: 'Every budget with what is spent of it',
  access: 'admin',
  rate: 'standard',
  data: z.object({ items: z.array(Budget), nextCursor: z.null() }),
  message: 'Budgets listed',
})

const Cap = z.strictObject({ period: Budget.shape.period, cap: Money })

export const setBudget = endpoint({
  name: 'setBudget',
  method: 'PUT',
  path: '/api/admin/budgets',
  tag,
  summary: 'Set what calls may cost in a period; a budget of the same subject and period is replaced',
  access: 'admin',
  rate: 'standard',
  body: z.discriminatedUnion('subject', [
    Cap.extend({ subject: z.literal('everyone') }),
    Cap.extend({ subject: z.literal('user'), subjectId: UserId }),
    Cap.extend({ subject: z.literal('workspace'), subjectId: WorkspaceId }),
    Cap.extend({ subject: z.literal('api-key'), subjectId: ApiKeyId }),
  ]),
  data: Budget,
  message: 'Budget set',
})

export const deleteBudget = endpoint({
  name: 'deleteBudget',
  method: 'DELETE',
  path: '/api/admin/budgets/:budgetId',
  tag,
  summary: 'Remove a budget',
  access: 'admin',
  rate: 'standard',
  params: z.strictObject({ budgetId: BudgetId }),
  data: z.object({ id: BudgetId }),
  message: 'Budget removed',
})
