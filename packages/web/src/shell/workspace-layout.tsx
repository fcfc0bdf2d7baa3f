import type { Workspace } from '@atelier/contract'
import { SquareTerminal } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect } from 'react'
import { Group, Panel, Separator, useDefaultLayout } from 'react-resizable-panels'
import { Assistant } from '../chat/assistant.tsx'
import { EditorArea } from '../files/editor-area.tsx'
import { FilesPanel } from '../files/files-panel.tsx'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { SearchPanel } from '../search/search-panel.tsx'
import { SandboxPanel } from '../sessions/sandbox-panel.tsx'
import type { TerminalDrawerControls } from '../terminals/use-terminal-drawer.ts'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { EmptyState, Loading } from '../ui/feedback.tsx'
import { ImportPanel } from '../workspaces/import-panel.tsx'
import type { ImportControls } from '../workspaces/use-import.tsx'
import { WorkspaceSettings } from '../workspaces/workspace-settings.tsx'
import type { Panel as PanelName } from './ide-url.ts'
import styles from './shell.module.css'
import { useIde } from './use-ide.ts'

const TerminalDrawer = lazy(() =>
  import('../terminals/terminal-drawer.tsx').then(({ TerminalDrawer }) => ({ default: TerminalDrawer })),
)

interface WorkspaceLayoutProps {
  workspace: Workspace
  controls: ImportControls
  /** what a workspace without files shows; null while it has some */
  empty: ReactNode
  terminal: TerminalDrawerControls
}

const sideNames = { files: 'Files', search: 'Search', sandbox: 'Sandbox' } as const

function isSidePanel(panel: PanelName): panel is keyof typeof sideNames {
  return panel in sideNames
}

/** Panels side by side: the side panel, the code, the assistant. Widths are remembered for each combination. */
export function WideWorkspace({ workspace, controls, empty, terminal }: WorkspaceLayoutProps) {
  const { location } = useIde()
  const { layout } = useServices()
  const { assistantOpen, side } = useStore(layout)
  const { panel } = location
  const shown = panel === 'chat' || panel === 'terminal' ? side : panel

  useEffect(() => {
    if (isSidePanel(panel)) layout.set((state) => ({ ...state, side: panel }))
    if (panel === 'chat') layout.set((state) => ({ ...state, assistantOpen: true }))
    if (panel === 'terminal') layout.set((state) => ({ ...state, terminalOpen: true }))
  }, [panel, layout])

  const sideOpen = isSidePanel(shown)
  const panelIds = [...(sideOpen ? ['side'] : []), 'middle', ...(assistantOpen ? ['assistant'] : [])]
  const sizes = useDefaultLayout({ id: 'atelier.workspace', panelIds, storage: localStorage })
  return (
    <Group className={styles.ide} defaultLayout={sizes.defaultLayout} onLayoutChanged={sizes.onLayoutChanged}>
      {sideOpen && (
        <>
          <Panel
            id="side"
            defaultSize={272}
            minSize={180}
            maxSize="40%"
            groupResizeBehavior="preserve-pixel-size"
          >
            <aside className={styles.panel} aria-label={sideNames[shown]}>
              <ErrorBoundary resetKey={shown}>
                {shown === 'files' && <FilesPanel workspace={workspace} controls={controls} empty={null} />}
                {shown === 'search' && <SearchPanel key={location.workspaceId} />}
                {shown === 'sandbox' && <SandboxPanel workspace={workspace} />}
              </ErrorBoundary>
            </aside>
          </Panel>
          <Separator className={styles.separator} aria-label="Width of the side panel" />
        </>
      )}
      <Panel id="middle" minSize={280}>
        <Middle terminal={terminal}>
          <section className={styles.middle} aria-label={shown === 'settings' ? 'Settings' : 'Code'}>
            <ErrorBoundary resetKey={`${shown}${location.file}`}>
              {!sideOpen && <ImportPanel workspaceId={workspace.id} />}
              {shown === 'settings' ? (
                <WorkspaceSettings workspace={workspace} />
              ) : (
                <EditorArea empty={empty} />
              )}
            </ErrorBoundary>
          </section>
        </Middle>
      </Panel>
      {assistantOpen && (
        <>
          <Separator className={styles.separator} aria-label="Width of the assistant" />
          <Panel
            id="assistant"
            defaultSize={440}
            minSize={300}
            maxSize="60%"
            groupResizeBehavior="preserve-pixel-size"
          >
            <aside className={styles.panel}>
              <ErrorBoundary>
                <Assistant onClose={() => layout.set((state) => ({ ...state, assistantOpen: false }))} />
              </ErrorBoundary>
            </aside>
          </Panel>
        </>
      )}
    </Group>
  )
}

/** The code, and the terminals below it while they are open. */
function Middle({ terminal, children }: { terminal: TerminalDrawerControls; children: ReactNode }) {
  const panelIds = ['code', ...(terminal.open ? ['drawer'] : [])]
  const sizes = useDefaultLayout({ id: 'atelier.middle', panelIds, storage: localStorage })
  return (
    <Group orientation="vertical" defaultLayout={sizes.defaultLayout} onLayoutChanged={sizes.onLayoutChanged}>
      <Panel id="code" minSize={120}>
        {children}
      </Panel>
      {terminal.open && (
        <>
          <Separator className={styles.drawerSeparator} aria-label="Height of the terminals" />
          <Panel id="drawer" defaultSize={300} minSize={120} groupResizeBehavior="preserve-pixel-size">
            <Terminals onHide={terminal.hide} />
          </Panel>
        </>
      )}
    </Group>
  )
}

function Terminals({ onHide }: { onHide?: () => void }) {
  return (
    <ErrorBoundary>
      <Suspense fallback={<Loading label="Loading terminals" />}>
        <TerminalDrawer {...(onHide && { onHide })} />
      </Suspense>
    </ErrorBoundary>
  )
}

function NoTerminals() {
  return (
    <EmptyState icon={SquareTerminal} title="Terminals are for editors">
      <p>You look on in this workspace. Ask an owner to make you an editor.</p>
    </EmptyState>
  )
}

/** One panel at a time, chosen in the bottom bar. */
export function NarrowWorkspace({ workspace, controls, empty, terminal }: WorkspaceLayoutProps) {
  const { location } = useIde()
  const pages = {
    files: () => <FilesPanel workspace={workspace} controls={controls} empty={empty} />,
    search: () => <SearchPanel />,
    sandbox: () => <SandboxPanel workspace={workspace} />,
    code: () => <EditorArea empty={empty} />,
    terminal: () => (terminal.offered ? <Terminals /> : <NoTerminals />),
    chat: () => <Assistant />,
    settings: () => <WorkspaceSettings workspace={workspace} />,
  }
  return (
    <div className={styles.panel}>
      <ErrorBoundary resetKey={location.panel}>{pages[location.panel]()}</ErrorBoundary>
    </div>
  )
}
