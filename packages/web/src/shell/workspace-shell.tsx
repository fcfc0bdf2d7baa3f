import type { Workspace } from '@atelier/contract'
import { useEffect, useEffectEvent, useState } from 'react'
import { FileTreeProvider, useWorkspaceFiles } from '../files/file-tree-context.tsx'
import { QuickOpen } from '../files/quick-open.tsx'
import { lastTab } from '../files/tabs.ts'
import { useWorkspace } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { useShortcut } from '../lib/use-shortcut.ts'
import { useTerminalDrawer } from '../terminals/use-terminal-drawer.ts'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Loading } from '../ui/feedback.tsx'
import { DropArea } from '../workspaces/drop-area.tsx'
import { EmptyWorkspace } from '../workspaces/empty-workspace.tsx'
import { useImport } from '../workspaces/use-import.tsx'
import { ActivityItems, BottomBar } from './activity-items.tsx'
import { AppFrame } from './app-frame.tsx'
import type { IdeLocation } from './ide-url.ts'
import { NotFound } from './not-found.tsx'
import { useTitle } from './page.tsx'
import { PlaceCommandsContext } from './place-commands.ts'
import { IdeContext, useIdeActions, useIdeLocation } from './use-ide.ts'
import { useWorkspaceCommands } from './use-workspace-commands.ts'
import { NarrowWorkspace, WideWorkspace } from './workspace-layout.tsx'

/** A workspace: its data, then its panels. */
export function WorkspaceShell() {
  const location = useIdeLocation()
  const workspace = useWorkspace(location?.workspaceId ?? '')
  if (location === null) return <Framed what="page" />
  if (workspace.isPending) return <AppFrame>{<Loading label="Opening the workspace" />}</AppFrame>
  if (workspace.isError) {
    return (
      <AppFrame>
        <div style={{ padding: 16 }}>
          <ErrorNotice error={workspace.error} onRetry={() => void workspace.refetch()} />
        </div>
      </AppFrame>
    )
  }
  if (workspace.data === undefined) return <Framed what="workspace" />
  return (
    <FileTreeProvider key={location.workspaceId} workspaceId={location.workspaceId}>
      <OpenWorkspace workspace={workspace.data} location={location} />
    </FileTreeProvider>
  )
}

function Framed({ what }: { what: string }) {
  return (
    <AppFrame>
      <NotFound what={what} />
    </AppFrame>
  )
}

function OpenWorkspace({ workspace, location }: { workspace: Workspace; location: IdeLocation }) {
  const ide = useIdeActions(location)
  const { tree, isPending, error } = useWorkspaceFiles()
  const { imports, tabs } = useServices()
  const [quickOpen, setQuickOpen] = useState(false)
  const isEmpty = tree.files.length === 0
  const controls = useImport(workspace.id, isEmpty)
  const canImport = workspace.role !== 'viewer'
  const openQuick = () => setQuickOpen(true)
  const terminal = useTerminalDrawer(workspace, ide)
  const commands = useWorkspaceCommands({ workspace, ide, controls, openQuick, terminal })
  useShortcut('p', openQuick)
  useTitle(location.file === null ? workspace.name : `${location.file.split('/').at(-1)} · ${workspace.name}`)

  const shownBefore = useEffectEvent(() => {
    const { file, scratch, preview } = location
    const isNothingNamed = file === null && scratch === null && preview === null
    const last = isNothingNamed ? lastTab(tabs.of(workspace.id).get()) : null
    if (last?.kind === 'file') ide.go({ file: last.path }, { replace: true })
    if (last?.kind === 'scratch') ide.go({ scratch: last.id }, { replace: true })
    if (last?.kind === 'preview') ide.go({ preview: last }, { replace: true })
  })
  useEffect(() => shownBefore(), [])

  const session = imports.of(workspace.id)
  useEffect(() => {
    // An import that cannot be found again is only not shown: the job itself goes on.
    session.resume().catch(() => undefined)
  }, [session])

  const empty =
    isEmpty && !isPending && error === null ? (
      <EmptyWorkspace workspaceId={workspace.id} controls={controls} canImport={canImport} />
    ) : null
  const layout = { workspace, controls, empty, terminal }
  return (
    <IdeContext value={ide}>
      <PlaceCommandsContext value={commands}>
        <AppFrame
          title={workspace.name}
          activity={<ActivityItems terminal={terminal} />}
          bottomBar={<BottomBar terminal={terminal} />}
        >
          {location.panel !== 'settings' && <h1 className="visually-hidden">{workspace.name}</h1>}
          <DropArea onDrop={(transfer) => canImport && controls.takeDrop(transfer)}>
            {ide.narrow ? <NarrowWorkspace {...layout} /> : <WideWorkspace {...layout} />}
          </DropArea>
          {controls.elements}
          {quickOpen && <QuickOpen onClose={() => setQuickOpen(false)} />}
        </AppFrame>
      </PlaceCommandsContext>
    </IdeContext>
  )
}
