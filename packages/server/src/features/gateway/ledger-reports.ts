import type { Budget, UsageTotals } from '@atelier/contract'
import type { CallOwner } from './ledger.ts'

/** Days of a report in UTC, both included. */
export interface UsagePeriod {
  from: string
  to: string
}

/** Totals of the calls that have one value in common. */
export type GroupedTotals<Group> = UsageTotals & { group: Group }

export interface UsageReport {
  /** undefined where there was no call */
  totals: UsageTotals | undefined
  byDay: GroupedTotals<string>[]
  byModel: GroupedTotals<string>[]
  byWorkspace: GroupedTotals<string | null>[]
  byUser: GroupedTotals<string>[]
}

/** What is told of the ledger, and the budgets. */
export interface LedgerReports {
  /** Usage of one person, or of everybody. */
  report(period: UsagePeriod, userId: string | null): Promise<UsageReport>
  /** Those that bind an owner, or all. */
  budgets(owner?: CallOwner): Promise<Budget[]>
  setBudget(budget: Pick<Budget, 'subject' | 'subjectId' | 'period' | 'cap'>): Promise<Budget>
  /** False when it is not there. */
  deleteBudget(id: string): Promise<boolean>
}
