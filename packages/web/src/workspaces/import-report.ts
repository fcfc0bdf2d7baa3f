import type { Job } from '@atelier/contract'
import { z } from 'zod'

const Reason = z.object({ path: z.string(), reason: z.string() })

/** The part of an import's report that the page shows. What a server of another version leaves out is no fault. */
const ImportReport = z.object({
  totals: z
    .object({
      indexed: z.number().default(0),
      skipped: z.number().default(0),
      failed: z.number().default(0),
      ignored: z.number().default(0),
      chunks: z.number().default(0),
    })
    .optional(),
  skipped: z.array(Reason).default([]),
  failed: z.array(Reason).default([]),
  ignored: z.array(Reason.extend({ files: z.number() })).default([]),
})
export type ImportReport = z.infer<typeof ImportReport>

const emptyReport: ImportReport = { skipped: [], failed: [], ignored: [] }

export function importReportOf(job: Job): ImportReport {
  const parsed = ImportReport.safeParse(job.report ?? {})
  return parsed.success ? parsed.data : emptyReport
}
