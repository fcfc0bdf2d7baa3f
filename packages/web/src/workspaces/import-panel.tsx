import { X } from 'lucide-react'
import { formatBytes, formatCount, formatNumber } from '../lib/format.ts'
import { useServices } from '../lib/services.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { errorLine } from '../ui/describe-error.ts'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Progress } from '../ui/feedback.tsx'
import { ImportReportView } from './import-report-view.tsx'
import { ImportError, type ImportState } from './import-session.ts'
import { TooManyFilesError } from './picked-files.ts'
import { useImportState } from './use-import.tsx'
import styles from './workspaces.module.css'

/** An import from its first byte to its report; nothing while there is none. */
export function ImportPanel({ workspaceId }: { workspaceId: string }) {
  const { imports, toasts } = useServices()
  const session = imports.of(workspaceId)
  const current = useImportState(workspaceId)
  if (current.state === 'idle') return null
  const cancel = () => {
    session.cancel().catch((error: unknown) => toasts.show({ tone: 'error', text: errorLine(error) }))
  }
  const isOver = current.state === 'ended' || current.state === 'failed'
  return (
    <section className={styles.import} aria-label="Import">
      <div className={styles.importHead}>
        <strong role="status">{titleOf(current)}</strong>
        {isOver ? (
          <IconButton icon={X} label="Dismiss" side="left" size={14} onClick={session.dismiss} />
        ) : (
          current.state !== 'reading' && (
            <Button variant="quiet" onClick={cancel}>
              Cancel
            </Button>
          )
        )}
      </div>
      <ImportDetail current={current} />
    </section>
  )
}

function ImportDetail({ current }: { current: ImportState }) {
  switch (current.state) {
    case 'idle':
      return null
    case 'reading':
      return <Progress value={null} label="Reading files" />
    case 'uploading': {
      const { sentBytes, totalBytes } = current
      return (
        <>
          <Progress value={totalBytes === 0 ? null : sentBytes / totalBytes} label="Upload" />
          <p className={styles.importNote}>
            {formatBytes(sentBytes)} of {formatBytes(totalBytes)} sent
          </p>
        </>
      )
    }
    case 'working': {
      const { done, total, unit, phase } = current.job.progress
      const ofTotal = total === null ? '' : ` of ${formatNumber(total)}`
      return (
        <>
          <Progress value={total === null || total === 0 ? null : done / total} label="Import" />
          <p className={styles.importNote}>
            {phase}: {formatNumber(done)}
            {ofTotal} {unit}
          </p>
        </>
      )
    }
    case 'ended':
      return <ImportReportView job={current.job} leftOut={current.leftOut} />
    case 'failed':
      return <ImportFailure error={current.error} />
  }
}

/** A fault in what was given is told in its own words; everything else is an error of the server or the page. */
function ImportFailure({ error }: { error: unknown }) {
  if (error instanceof ImportError) return <p>{error.message}</p>
  if (error instanceof TooManyFilesError)
    return <p>It holds {error.message}. Give a part of it, or an archive.</p>
  return <ErrorNotice error={error} kept="Files that were stored before this stay in the workspace." />
}

function titleOf(current: ImportState): string {
  switch (current.state) {
    case 'idle':
      return ''
    case 'reading':
      return current.files === 0 ? 'Reading' : `Reading: ${formatCount(current.files, 'file')} so far`
    case 'uploading':
      return `Sending ${formatCount(current.files, 'file')}`
    case 'working':
      return current.job.state === 'queued' ? 'Waiting for its turn' : 'Importing'
    case 'failed':
      return 'The import did not start'
    case 'ended':
      return { succeeded: 'Imported', failed: 'The import failed', cancelled: 'The import was stopped' }[
        current.job.state as 'succeeded' | 'failed' | 'cancelled'
      ]
  }
}
