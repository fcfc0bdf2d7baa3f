import type { ReactNode } from 'react'
import styles from './files.module.css'

/** The path above a file, and what belongs to the file at its right. */
export function Crumbs({ path, children }: { path: string; children?: ReactNode }) {
  const segments = path.split('/')
  return (
    <div className={styles.crumbs}>
      <ol aria-label="Path">
        {segments.map((segment, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a path may repeat a name, and its order never changes
          <li key={index}>{segment}</li>
        ))}
      </ol>
      {children}
    </div>
  )
}
