import { maxImportBytes } from '@atelier/contract'
import { FileArchive, FolderUp, GitBranch, Upload } from 'lucide-react'
import { formatBytes } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { isBusy } from './import-session.ts'
import { type ImportControls, useImportState } from './use-import.tsx'
import styles from './workspaces.module.css'

interface EmptyWorkspaceProps {
  workspaceId: string
  controls: ImportControls
  canImport: boolean
}

/** The middle of a workspace without files. */
export function EmptyWorkspace({ workspaceId, controls, canImport }: EmptyWorkspaceProps) {
  const current = useImportState(workspaceId)
  if (isBusy(current)) {
    return (
      <div className={styles.drop}>
        <Upload size={28} strokeWidth={1.5} aria-hidden />
        <h2>The import is under way</h2>
        <p>You can leave this page or close it once the files are sent: the work goes on.</p>
      </div>
    )
  }
  if (!canImport) {
    return (
      <div className={styles.drop}>
        <h2>Nothing here yet</h2>
        <p>An editor or owner of this workspace can import a project.</p>
      </div>
    )
  }
  return (
    <div className={styles.drop}>
      <Upload size={28} strokeWidth={1.5} aria-hidden />
      <h2>Drop a project here</h2>
      <p>
        A folder, some files, or one archive (.zip, .tar.gz), up to {formatBytes(maxImportBytes)}. It is
        indexed as it arrives; then ask about it.
      </p>
      <div className={styles.dropActions}>
        <Button variant="primary" icon={FolderUp} onClick={controls.pickFolder}>
          Choose a folder
        </Button>
        <Button icon={FileArchive} onClick={controls.pickFiles}>
          Choose files or an archive
        </Button>
        <Button icon={GitBranch} onClick={controls.askGit}>
          From Git
        </Button>
      </div>
    </div>
  )
}
