import { ExternalLink, MonitorOff, RotateCw } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import { useWorkspacePorts, useWorkspaceStatus } from '../sessions/use-workspace-status.ts'
import { useIde } from '../shell/use-ide.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { EmptyState, Loading } from '../ui/feedback.tsx'
import { type PreviewPlace, previewHref } from './preview-place.ts'
import styles from './previews.module.css'

/** What a program on a port shows, in a frame with an origin of its own. */
export function PreviewView({ workspaceId, place }: { workspaceId: string; place: PreviewPlace }) {
  const { go, openPreview } = useIde()
  const ports = useWorkspacePorts(workspaceId)
  const { data: status } = useWorkspaceStatus(workspaceId)
  const [loads, setLoads] = useState(0)
  const [path, setPath] = useState(place.path)
  const listed = ports.data?.items.find(({ port }) => port === place.port)
  const known = useKept(listed?.url ?? null)
  useEffect(() => setPath(place.path), [place.path])

  const visit = (event: FormEvent) => {
    event.preventDefault()
    const wanted = path.startsWith('/') ? path : `/${path}`
    if (wanted === place.path) setLoads(loads + 1)
    openPreview({ ...place, path: wanted })
  }
  const href = known === null ? null : previewHref(known, place.path)
  return (
    <div className={styles.preview}>
      <form className={styles.bar} onSubmit={visit}>
        <IconButton
          icon={RotateCw}
          label="Load again"
          side="right"
          size={14}
          disabled={href === null}
          onClick={() => setLoads(loads + 1)}
        />
        <label>
          <span>:{place.port}</span>
          <input
            aria-label={`Path on port ${place.port}`}
            value={path}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => setPath(event.target.value)}
          />
        </label>
        {href !== null && (
          <a
            href={href}
            target="_blank"
            rel="noopener"
            aria-label="Open in a new tab"
            title="Open in a new tab"
          >
            <ExternalLink size={14} aria-hidden />
          </a>
        )}
      </form>
      {ports.isError && (
        <div className={styles.notice}>
          <ErrorNotice error={ports.error} onRetry={() => void ports.refetch()} />
        </div>
      )}
      {href !== null && ports.isSuccess && listed === undefined && (
        <p className={styles.gone} role="status">
          Nothing listens on port {place.port} now. Load again when the program is back.
        </p>
      )}
      {href !== null && (
        <iframe
          key={`${href} ${loads}`}
          title={`Preview of port ${place.port}`}
          src={href}
          className={styles.frame}
          // The page in it is another origin; it cannot lead this window away.
          sandbox="allow-scripts allow-same-origin allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-downloads"
          allow="clipboard-read; clipboard-write; fullscreen"
        />
      )}
      {href === null && ports.isPending && <Loading label="Looking for the port" />}
      {href === null && ports.isSuccess && (
        <EmptyState
          icon={MonitorOff}
          title={
            listed === undefined ? `Nothing listens on port ${place.port}` : 'No previews under this address'
          }
          actions={<Button onClick={() => go({ panel: 'sandbox' })}>Show the sandbox</Button>}
        >
          <p>
            {listed !== undefined
              ? 'Open Atelier as localhost, or let the server have a preview domain.'
              : status?.state === 'running'
                ? `Start a program that listens on ${place.port}; it is shown here as soon as it does.`
                : 'The workspace does not run. Start it, then the program in it.'}
          </p>
        </EmptyState>
      )}
    </div>
  )
}

/** The last value that was there: a program that restarts does not take its page away. */
function useKept(value: string | null): string | null {
  const [kept, setKept] = useState(value)
  if (value !== null && value !== kept) setKept(value)
  return value ?? kept
}
