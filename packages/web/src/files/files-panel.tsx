import type { Workspace } from '@atelier/contract'
import { CopyMinus, FilePlus2, FolderUp, RotateCw, Upload } from 'lucide-react'
import { PanelHeader } from '../shell/panel-header.tsx'
import { IconButton } from '../ui/button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Loading } from '../ui/feedback.tsx'
import { MenuButton } from '../ui/menu.tsx'
import { ImportPanel } from '../workspaces/import-panel.tsx'
import type { ImportControls } from '../workspaces/use-import.tsx'
import { useWorkspaceFiles } from './file-tree-context.tsx'
import { FileTreeList } from './file-tree-list.tsx'
import styles from './files.module.css'

export interface FilesPanelProps {
  workspace: Workspace
  controls: ImportControls
  /** what takes the tree's place while there are no files; null leaves a line of text */
  empty: React.ReactNode
}

export function FilesPanel({ workspace, controls, empty }: FilesPanelProps) {
  const { tree, isPending, error, truncated, refetch, expanded } = useWorkspaceFiles()
  const isEmpty = tree.files.length === 0
  return (
    <>
      <PanelHeader title="Files">
        {workspace.role !== 'viewer' && (
          <MenuButton
            icon={Upload}
            label="Import"
            items={[
              { label: 'Import a folder', icon: FolderUp, run: controls.pickFolder },
              { label: 'Import files or an archive', icon: FilePlus2, run: controls.pickFiles },
            ]}
          />
        )}
        <IconButton icon={RotateCw} label="Read again" size={14} onClick={refetch} />
        <IconButton
          icon={CopyMinus}
          label="Collapse all"
          side="left"
          size={14}
          onClick={() => expanded.set(new Set())}
        />
      </PanelHeader>
      <ImportPanel workspaceId={workspace.id} />
      {isPending && <Loading label="Reading the files" />}
      {error !== null && (
        <div className={styles.padded}>
          <ErrorNotice error={error} onRetry={refetch} />
        </div>
      )}
      {!isPending && error === null && isEmpty && (empty ?? <p className={styles.none}>No files yet.</p>)}
      {!isEmpty && <FileTreeList />}
      {truncated && (
        <p className={styles.truncated}>The list is long and was cut: open a folder to read all of it.</p>
      )}
    </>
  )
}
