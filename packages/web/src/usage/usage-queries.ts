import { type Budget, listBudgets, readAllUsage, readUsage, type UsageTotals } from '@atelier/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useServices } from '../lib/services.tsx'
import { type DayTotals, firstDayOf, type Range } from './usage-days.ts'

export interface UsageView {
  from: string
  to: string
  totals: UsageTotals
  byDay: DayTotals[]
  byModel: (UsageTotals & { model: string })[]
  byWorkspace: (UsageTotals & { workspaceId: string | null })[]
  /** empty where only one's own is shown */
  byUser: (UsageTotals & { userId: string })[]
  budgets: Budget[]
}

/** One's own usage and the budgets that bind one; `everybody`: that of all, for administrators. */
export function useUsage(range: Range, everybody: boolean) {
  const { client } = useServices()
  return useQuery({
    queryKey: ['usage', range, everybody],
    queryFn: async ({ signal }): Promise<UsageView> => {
      const query = { from: firstDayOf(range, Date.now()) }
      if (!everybody) return { ...(await client.call(readUsage, { query }, { signal })), byUser: [] }
      const [report, budgets] = await Promise.all([
        client.call(readAllUsage, { query }, { signal }),
        client.call(listBudgets, {}, { signal }),
      ])
      return { ...report, budgets: budgets.items }
    },
    // Answers are given while the page is looked at.
    staleTime: 0,
    placeholderData: keepPreviousData,
  })
}
