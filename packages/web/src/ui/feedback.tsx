import { Info, LoaderCircle, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import styles from './notice.module.css'

/** A list or a place without content: says what to do. */
export function EmptyState(props: {
  icon: LucideIcon
  title: string
  children?: ReactNode
  actions?: ReactNode
}) {
  const { icon: Icon, title, children, actions } = props
  return (
    <div className={styles.empty}>
      <Icon size={24} strokeWidth={1.5} aria-hidden />
      <h2>{title}</h2>
      {children}
      {actions !== undefined && <div className={styles.emptyActions}>{actions}</div>}
    </div>
  )
}

/** Shown after 300 ms; says what it waits for. */
export function Loading({ label }: { label: string }) {
  return (
    <div className={styles.loading} role="status">
      <LoaderCircle size={16} aria-hidden />
      <span>{label}</span>
    </div>
  )
}

export function Note({ children }: { children: ReactNode }) {
  return (
    <div className={styles.note}>
      <Info size={16} aria-hidden />
      <div className={styles.text}>{children}</div>
    </div>
  )
}

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent'

export function Badge({
  tone = 'neutral',
  title,
  children,
}: {
  tone?: Tone
  title?: string
  children: ReactNode
}) {
  return (
    <span className={styles.badge} data-tone={tone} title={title}>
      {children}
    </span>
  )
}

export function Kbd({ children }: { children: ReactNode }) {
  return <kbd className={styles.kbd}>{children}</kbd>
}

/** `value` from 0 to 1; null where the end is not known. */
export function Progress({ value, label }: { value: number | null; label: string }) {
  return <progress className={styles.progress} aria-label={label} value={value ?? undefined} />
}
