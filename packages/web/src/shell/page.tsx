import { type ReactNode, useEffect } from 'react'
import styles from './page.module.css'

/** A page of settings or a list: a title, its actions, a readable column. */
export function Page(props: { title: string; lead?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  const { title, lead, actions, children } = props
  useTitle(title)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it by keys
    <section className={styles.scroll} aria-label={title} tabIndex={0}>
      <div className={styles.column}>
        <header className={styles.head}>
          <div>
            <h1>{title}</h1>
            {lead !== undefined && <p>{lead}</p>}
          </div>
          {actions}
        </header>
        {children}
      </div>
    </section>
  )
}

export function Section({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  return (
    <section className={styles.section}>
      <header>
        <h2>{title}</h2>
        {lead !== undefined && <p>{lead}</p>}
      </header>
      {children}
    </section>
  )
}

/** The title of the browser's tab. */
export function useTitle(title: string | null): void {
  useEffect(() => {
    document.title = title === null ? 'Atelier' : `${title} · Atelier`
  }, [title])
}
