import type { Job } from '@atelier/contract'
import { formatCount, formatNumber } from '../lib/format.ts'
import { Badge } from '../ui/feedback.tsx'
import { type ImportReport, importReportOf } from './import-report.ts'
import styles from './workspaces.module.css'

/** Rows of a table of files: more than a person reads. */
const mostRows = 200

/** What became of the files: how many can be searched, which cannot and why, and what was left out. */
export function ImportReportView({ job, leftOut }: { job: Job; leftOut: string[] }) {
  const report = importReportOf(job)
  const { totals, skipped, failed, ignored } = report
  const left = [
    ...ignored.map(({ path, reason }) => ({ path, reason })),
    ...leftOut.map((path) => ({ path, reason: 'not sent' })),
  ]
  return (
    <>
      {totals !== undefined && <Totals totals={totals} />}
      {job.error !== null && <p>{job.error.message} Files that were stored before this stay.</p>}
      {job.state === 'cancelled' && <p className={styles.importNote}>What was stored before that stays.</p>}
      <Reasons title={formatCount(totals?.failed ?? failed.length, 'file')} verb="failed" rows={failed} />
      <Reasons
        title={formatCount(totals?.skipped ?? skipped.length, 'file')}
        verb="not searchable"
        rows={skipped}
      />
      <Reasons title={formatCount(left.length, 'folder')} verb="left out" rows={left} />
    </>
  )
}

function Totals({ totals }: { totals: NonNullable<ImportReport['totals']> }) {
  return (
    <div className={styles.report}>
      <Badge tone="good">{formatNumber(totals.indexed)} indexed</Badge>
      {totals.skipped > 0 && <Badge tone="warn">{formatNumber(totals.skipped)} skipped</Badge>}
      {totals.failed > 0 && <Badge tone="bad">{formatNumber(totals.failed)} failed</Badge>}
      {totals.chunks > 0 && <Badge>{formatCount(totals.chunks, 'passage')}</Badge>}
    </div>
  )
}

function Reasons(props: { title: string; verb: string; rows: { path: string; reason: string }[] }) {
  const { title, verb, rows } = props
  if (rows.length === 0) return null
  return (
    <details className={styles.details}>
      <summary>
        {title} {verb}
      </summary>
      <table>
        <tbody>
          {rows.slice(0, mostRows).map(({ path, reason }) => (
            <tr key={path}>
              <td>{path}</td>
              <td>{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
