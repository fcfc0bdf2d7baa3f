import type { IngestedFile, IngestTotals } from '@atelier/contract'
import type { ImportPlan } from '../../platform/archive/import-plan.ts'
import { maxReportedEntries } from './workspace-limits.ts'

/** What an import came to: the `report` of its job. */
export interface ImportReport {
  /** the top folder that was dropped, `null` if none */
  root: string | null
  /** `files` is everything that was sent except what is ignored */
  totals: IngestTotals & { ignored: number }
  /** at most 1,000; `totals` counts all */
  skipped: { path: string; reason: string }[]
  failed: { path: string; reason: string }[]
  /** whole folders that an import leaves out, and how many files they held */
  ignored: { path: string; files: number; reason: string }[]
  [key: string]: unknown
}

export function importReport(
  plan: ImportPlan,
  ingested: { files: readonly IngestedFile[]; totals: IngestTotals },
): ImportReport {
  const { totals } = ingested
  const of = (status: IngestedFile['status']) =>
    ingested.files
      .filter((file) => file.status === status)
      .map((file) => ({ path: file.name, reason: file.reason ?? 'no reason is known' }))
  return {
    root: plan.root,
    totals: {
      ...totals,
      files: totals.files + plan.skipped.length,
      skipped: totals.skipped + plan.skipped.length,
      ignored: plan.ignored.reduce((sum, { files }) => sum + files, 0),
    },
    skipped: [...plan.skipped, ...of('skipped')].slice(0, maxReportedEntries),
    failed: of('failed').slice(0, maxReportedEntries),
    ignored: plan.ignored.slice(0, maxReportedEntries),
  }
}
