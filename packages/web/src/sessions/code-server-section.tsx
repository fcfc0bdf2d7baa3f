import { ApiError } from '@atelier/client'
import { type CodeServerSession, startCodeServer, stopCodeServer } from '@atelier/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ExternalLink, Square, SquareCode } from 'lucide-react'
import { formatAgo, formatMoment } from '../lib/format.ts'
import { useServices } from '../lib/services.tsx'
import { useNow } from '../lib/use-now.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { PanelSection } from './panel-section.tsx'
import styles from './sessions.module.css'
import { codeServerKey, statusKey, useCodeServer } from './use-workspace-status.ts'

/** The full editor in a tab of its own; where it is not installed, the command that installs it. */
export function CodeServerSection({ workspaceId }: { workspaceId: string }) {
  const { client } = useServices()
  const queryClient = useQueryClient()
  const sessions = useCodeServer(workspaceId, true)
  const session = sessions.data?.items[0]
  const readAgain = () => {
    void queryClient.invalidateQueries({ queryKey: codeServerKey(workspaceId) })
    void queryClient.invalidateQueries({ queryKey: statusKey(workspaceId) })
  }
  const start = useMutation({
    mutationFn: () => client.call(startCodeServer, { body: { workspaceId } }),
    // A browser that keeps the window from opening leaves the link.
    onSuccess: ({ url }) => window.open(url, '_blank', 'noopener'),
    onSettled: readAgain,
  })
  const stop = useMutation({
    mutationFn: (id: string) => client.call(stopCodeServer, { query: { id } }),
    onSettled: readAgain,
  })
  const error = start.error ?? stop.error
  return (
    <PanelSection title="code-server">
      <p>Visual Studio Code in the browser, on the same files, with its extensions and debugger.</p>
      {session === undefined ? (
        <Button icon={SquareCode} busy={start.isPending} onClick={() => start.mutate()}>
          {start.isPending ? 'Starting code-server' : 'Open in code-server'}
        </Button>
      ) : (
        <RunningEditor session={session} stopping={stop.isPending} onStop={() => stop.mutate(session.id)} />
      )}
      {error !== null && <StartFault error={error} />}
    </PanelSection>
  )
}

interface RunningEditorProps {
  session: CodeServerSession
  stopping: boolean
  onStop: () => void
}

function RunningEditor({ session, stopping, onStop }: RunningEditorProps) {
  const now = useNow(30_000)
  return (
    <>
      <div className={styles.actions}>
        <a className={styles.link} href={session.url} target="_blank" rel="noopener">
          <ExternalLink size={14} aria-hidden />
          Open in a new tab
        </a>
        <Button variant="quiet" icon={Square} busy={stopping} onClick={onStop}>
          Stop code-server
        </Button>
      </div>
      <p title={formatMoment(session.stopsAt)}>
        Stops {formatAgo(session.stopsAt, now)}, if nobody does anything in it.
      </p>
    </>
  )
}

/** Where it is only not installed, that is no fault to try again. */
function StartFault({ error }: { error: unknown }) {
  const command = error instanceof ApiError ? error.details?.command : undefined
  if (typeof command !== 'string') return <ErrorNotice error={error} kept="The files are as they were." />
  return (
    <div role="alert" className={styles.install}>
      <p>code-server is not installed on this server. Whoever runs it can install it with</p>
      <CopyButton label="Copy the command" text={command} caption={command} />
      <p>and it opens here once the workspace was stopped and started. The server needs no restart.</p>
    </div>
  )
}
