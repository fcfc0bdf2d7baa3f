import { ApiError } from '@atelier/client'
import { CircleAlert, RotateCw } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { describeError } from './describe-error.ts'
import styles from './notice.module.css'

export interface ErrorNoticeProps {
  error: unknown
  /** what was kept, in words, where something could be feared lost */
  kept?: string
  onRetry?: () => void
  /** what happened, where more is known than the error says */
  title?: string
  /** more facts */
  children?: ReactNode
}

/** What happened, what was kept, what to try; the request id to copy. */
export function ErrorNotice({ error, kept, onRetry, title: given, children }: ErrorNoticeProps) {
  const { title: usual, advice, message } = describeError(error)
  const title = given ?? usual
  const requestId = error instanceof ApiError ? error.requestId : undefined
  const wait = useWait(error)
  return (
    <div className={styles.error} role="alert">
      <CircleAlert size={16} aria-hidden />
      <div className={styles.text}>
        <strong>{title}</strong>
        {message !== '' && message !== title && <p>{message}</p>}
        {kept !== undefined && <p>{kept}</p>}
        {children}
        {wait > 0 ? <p>You can try again in {wait} s.</p> : advice !== null && <p>{advice}</p>}
        {(onRetry !== undefined || requestId !== undefined) && (
          <div className={styles.foot}>
            {onRetry !== undefined && (
              <Button icon={RotateCw} disabled={wait > 0} onClick={onRetry}>
                Try again
              </Button>
            )}
            {requestId !== undefined && (
              <CopyButton label="Copy request id" text={requestId} caption={requestId} />
            )}
          </div>
        )}
      </div>
    </div>
  )
}

/** Seconds until the server takes the request again; counts down. */
function useWait(error: unknown): number {
  const seconds =
    error instanceof ApiError && error.code === 'RATE_LIMITED' && error.details?.kind !== 'budget'
      ? (error.retryAfterSeconds ?? 0)
      : 0
  const [waited, setWaited] = useState({ error, seconds: 0 })
  // Another error starts its own wait.
  const passed = waited.error === error ? waited.seconds : 0
  const left = Math.max(0, seconds - passed)
  useEffect(() => {
    if (left === 0) return
    const timer = setTimeout(() => setWaited({ error, seconds: passed + 1 }), 1000)
    return () => clearTimeout(timer)
  }, [left, passed, error])
  return left
}
