import type { Workspace } from '@atelier/contract'
import { PortsSection } from '../previews/ports-section.tsx'
import { PanelHeader } from '../shell/panel-header.tsx'
import { CodeServerSection } from './code-server-section.tsx'
import { ExportSection } from './export-section.tsx'
import styles from './sessions.module.css'
import { StateSection } from './state-section.tsx'

/** Where the workspace's programs run: its state, what they listen on, the full editor, and the way out. */
export function SandboxPanel({ workspace }: { workspace: Workspace }) {
  const canEdit = workspace.role !== 'viewer'
  return (
    <>
      <PanelHeader title="Sandbox" />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it by keys */}
      <section className={styles.panel} tabIndex={0} aria-label="What the workspace runs">
        <StateSection workspaceId={workspace.id} canEdit={canEdit} />
        <PortsSection workspaceId={workspace.id} canEdit={canEdit} />
        {canEdit && <CodeServerSection workspaceId={workspace.id} />}
        <ExportSection workspaceId={workspace.id} />
      </section>
    </>
  )
}
