import type { WorkspacePort } from '@atelier/contract'
import { AppWindow, ExternalLink } from 'lucide-react'
import { PanelSection } from '../sessions/panel-section.tsx'
import styles from '../sessions/sessions.module.css'
import { useWorkspacePorts } from '../sessions/use-workspace-status.ts'
import { useIde } from '../shell/use-ide.ts'
import { Button } from '../ui/button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'

/** What programs of the workspace listen on, each with its ways to be seen. */
export function PortsSection({ workspaceId, canEdit }: { workspaceId: string; canEdit: boolean }) {
  const ports = useWorkspacePorts(workspaceId)
  const items = onePerPort(ports.data?.items ?? [])
  const isUnreachable = items.some(({ url }) => url === null)
  return (
    <PanelSection title="Ports">
      {ports.isError && <ErrorNotice error={ports.error} onRetry={() => void ports.refetch()} />}
      {ports.isSuccess && items.length === 0 && (
        <p>
          Nothing listens yet. Start a program in a terminal that listens on a port, such as{' '}
          <code>npm run dev</code>, and it is shown here.
        </p>
      )}
      {items.length > 0 && (
        <ul className={styles.ports}>
          {items.map((port) => (
            <Port key={port.port} port={port} canEdit={canEdit} />
          ))}
        </ul>
      )}
      {!canEdit && items.length > 0 && <p>Opening a port needs the role editor.</p>}
      {canEdit && isUnreachable && (
        <p>
          Under this address there are no previews: open Atelier as <code>localhost</code>, or let the server
          have <code>ATELIER_PREVIEW_DOMAIN</code>.
        </p>
      )}
    </PanelSection>
  )
}

function Port({ port: { port, address, url }, canEdit }: { port: WorkspacePort; canEdit: boolean }) {
  const { openPreview } = useIde()
  return (
    <li>
      <strong>{port}</strong>
      <small>{address}</small>
      {canEdit && url !== null && (
        <>
          <Button
            icon={AppWindow}
            aria-label={`Open port ${port} here`}
            onClick={() => openPreview({ port, path: '/' })}
          >
            Open
          </Button>
          <a
            className={styles.iconLink}
            href={url}
            target="_blank"
            rel="noopener"
            aria-label={`Open port ${port} in a new tab`}
            title="Open in a new tab"
          >
            <ExternalLink size={14} aria-hidden />
          </a>
        </>
      )}
    </li>
  )
}

/** A program may listen under several addresses. */
function onePerPort(items: readonly WorkspacePort[]): WorkspacePort[] {
  return [...new Map(items.map((item) => [item.port, item])).values()].sort((a, b) => a.port - b.port)
}
