import type { Workspace } from '@atelier/contract'
import { CopyMinus, FilePlus2, FolderPlus, FolderUp, GitBranch, RotateCw, Upload } from 'lucide-react'
import { useCanEdit } from '../editing/use-documents.ts'
import { useStore } from '../lib/store.ts'
import { PanelHeader } from '../shell/panel-header.tsx'
import { IconButton } from '../ui/button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Loading } from '../ui/feedback.tsx'
import { MenuButton } from '../ui/menu.tsx'
import { ImportPanel } from '../workspaces/import-panel.tsx'
import type { ImportControls } from '../workspaces/use-import.tsx'
import { ancestorsOf, parentOf } from './file-tree.ts'
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
  const { tree, isPending, error, truncated, refetch, expanded, field, active } = useWorkspaceFiles()
  const naming = useStore(field)
  const isEmpty = tree.children.get('')?.length === 0 && naming === null
  const canEdit = useCanEdit(workspace.id)
  /** Beside the row that the keys go to, or in it where it is a folder. */
  const create = (entry: 'file' | 'directory') => {
    const at = active.get()
    const parent = tree.children.has(at) || at === '' ? at : parentOf(at)
    if (parent !== '') expanded.set((open) => new Set([...open, ...ancestorsOf(parent), parent]))
    field.set({ kind: 'create', parent: tree.children.has(parent) ? parent : '', entry })
  }
  return (
    <>
      <PanelHeader title="Files">
        {canEdit && (
          <>
            <IconButton icon={FilePlus2} label="New file" size={14} onClick={() => create('file')} />
            <IconButton icon={FolderPlus} label="New folder" size={14} onClick={() => create('directory')} />
          </>
        )}
        {workspace.role !== 'viewer' && (
          <MenuButton
            icon={Upload}
            label="Import"
            items={[
              { label: 'Import a folder', icon: FolderUp, run: controls.pickFolder },
              { label: 'Import files or an archive', icon: FilePlus2, run: controls.pickFiles },
              { label: 'Import from Git', icon: GitBranch, run: controls.askGit },
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
