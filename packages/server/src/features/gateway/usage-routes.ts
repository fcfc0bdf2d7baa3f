import {
  deleteBudget,
  listBudgets,
  readAllUsage,
  readUsage,
  setBudget,
  type UsageTotals,
} from '@atelier/contract'
import { invalidField, notFound } from '../../base/app-error.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { type Call, mount } from '../../platform/http/mount.ts'
import { workspacesOf } from '../../platform/identity/principal.ts'
import type { Ledger } from './ledger.ts'
import type { GroupedTotals, LedgerReports, UsagePeriod, UsageReport } from './ledger-reports.ts'

/** Days of a report where none are named. */
const usualDays = 30
/** Longest report. */
const mostDays = 400

const dayMilliseconds = 86_400_000

export function mountUsageRoutes(dependencies: {
  http: HttpServer
  reports: LedgerReports
  ledger: Ledger
  clock: () => number
}): void {
  const { http, reports, ledger, clock } = dependencies
  mount(http, readUsage, async ({ principal, query }) => {
    const period = periodOf(query, clock())
    await ledger.written()
    const { byUser: _, ...report } = present(await reports.report(period, principal.userId), period)
    const apiKeyId = principal.kind === 'api-key' ? principal.apiKeyId : null
    const budgets = await reports.budgets({ userId: principal.userId, workspaceId: null, apiKeyId })
    const among = workspacesOf(principal)
    const byWorkspace = report.byWorkspace.filter(
      ({ workspaceId }) => workspaceId === null || (among?.includes(workspaceId) ?? true),
    )
    return { ...report, byWorkspace, budgets }
  })
  mount(http, readAllUsage, async ({ query }) => {
    const period = periodOf(query, clock())
    await ledger.written()
    return present(await reports.report(period, null), period)
  })
  mount(http, listBudgets, async () => ({ items: await reports.budgets(), nextCursor: null }))
  mount(http, setBudget, async ({ body }) => {
    const subjectId = body.subject === 'everyone' ? null : body.subjectId
    const budget = await reports.setBudget({ ...body, subjectId })
    ledger.budgetsChanged()
    return budget
  })
  mount(http, deleteBudget, async ({ params: { budgetId } }) => {
    if (!(await reports.deleteBudget(budgetId))) throw notFound('Budget')
    return { id: budgetId }
  })
}

function periodOf({ from, to }: Call<typeof readUsage>['query'], now: number): UsagePeriod {
  const last = to ?? dayOf(now)
  const first = from ?? dayOf(Date.parse(last) - (usualDays - 1) * dayMilliseconds)
  const days = (Date.parse(last) - Date.parse(first)) / dayMilliseconds + 1
  if (days < 1) throw invalidField('from', 'must not be after to')
  if (days > mostDays) throw invalidField('from', `must be at most ${mostDays} days before to`)
  return { from: first, to: last }
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

function present(report: UsageReport, period: UsagePeriod) {
  return {
    ...period,
    totals: report.totals ?? nothing,
    byDay: report.byDay.map((row) => ({ ...withoutGroup(row), day: row.group })),
    byModel: report.byModel.map((row) => ({ ...withoutGroup(row), model: row.group })),
    byWorkspace: report.byWorkspace.map((row) => ({ ...withoutGroup(row), workspaceId: row.group })),
    byUser: report.byUser.map((row) => ({ ...withoutGroup(row), userId: row.group })),
  }
}

function withoutGroup({ group: _, ...totals }: GroupedTotals<unknown>): UsageTotals {
  return totals
}

const nothing: UsageTotals = {
  calls: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cost: '0',
  unpriced: 0,
  estimated: 0,
}
