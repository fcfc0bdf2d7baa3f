import type { ReactNode } from 'react'
import { Redirect, useLocation } from 'wouter'
import { useSession } from '../lib/queries.ts'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Loading } from '../ui/feedback.tsx'

/** Shows its children to a signed-in person; others go to sign-in and come back to this address. */
export function RequireSession({ children }: { children: ReactNode }) {
  const session = useSession()
  const [pathname] = useLocation()
  if (session.isPending) return <Loading label="Loading" />
  if (session.isError && session.data === undefined) {
    return (
      <main style={{ padding: 24, maxWidth: 560, margin: '10vh auto' }}>
        <ErrorNotice error={session.error} onRetry={() => void session.refetch()} />
      </main>
    )
  }
  if (session.data == null) {
    const here = pathname + window.location.search + window.location.hash
    return <Redirect href={here === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(here)}`} replace />
  }
  return children
}
