import { type ReactNode, useEffect, useRef } from 'react'
import { Logo } from '../ui/logo.tsx'
import styles from './auth.module.css'

/** The frame of sign-in and sign-up. */
export function AuthPage(props: { title: string; lead: ReactNode; foot: ReactNode; children: ReactNode }) {
  const card = useRef<HTMLDivElement>(null)
  useEffect(() => card.current?.querySelector('input')?.focus(), [])
  return (
    <main className={styles.page}>
      <div ref={card} className={styles.card}>
        <Logo size={32} />
        <div className={styles.head}>
          <h1>{props.title}</h1>
          <p>{props.lead}</p>
        </div>
        {props.children}
        <p className={styles.foot}>{props.foot}</p>
      </div>
    </main>
  )
}
