import type { ReactNode } from 'react'
import styles from './sessions.module.css'

export function PanelSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.section} aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}
