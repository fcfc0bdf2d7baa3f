import { formatBytes, formatNumber } from '../lib/format.ts'
import { useLimits } from '../lib/queries.ts'
import { Page } from '../shell/page.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Loading } from '../ui/feedback.tsx'
import styles from './settings.module.css'

export function Limits() {
  const limits = useLimits()
  return (
    <Page title="Limits" lead="What this server allows, as its administrator has set it.">
      {limits.isPending && <Loading label="Reading the limits" />}
      {limits.isError && <ErrorNotice error={limits.error} onRetry={() => void limits.refetch()} />}
      {limits.data !== undefined && (
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Limit</th>
            </tr>
          </thead>
          <tbody>
            {limits.data.items.map(({ name, value, unit, description }) => (
              <tr key={name}>
                <td>{description}</td>
                <td>{unit === 'bytes' ? formatBytes(value) : `${formatNumber(value)} ${unit}`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Page>
  )
}
