import type { ReactNode } from 'react'
import styles from './shell.module.css'

export function PanelHeader({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <header className={styles.panelHeader}>
      <h2 title={title}>{title}</h2>
      {children}
    </header>
  )
}
