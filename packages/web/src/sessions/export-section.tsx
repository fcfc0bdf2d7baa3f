import { exportWorkspace } from '@atelier/contract'
import { FileArchive } from 'lucide-react'
import { useState } from 'react'
import { Checkbox } from '../ui/field.tsx'
import { PanelSection } from './panel-section.tsx'
import styles from './sessions.module.css'

/** All files as one archive. */
export function ExportSection({ workspaceId }: { workspaceId: string }) {
  const [gitignore, setGitignore] = useState(true)
  const href = (format: string) => {
    const query = new URLSearchParams({ format, gitignore: String(gitignore) })
    return `${exportWorkspace.path.replace(':workspaceId', workspaceId)}?${query}`
  }
  return (
    <PanelSection title="Export">
      <Checkbox
        label="Without .git and what .gitignore names"
        checked={gitignore}
        onChange={(event) => setGitignore(event.target.checked)}
      />
      <div className={styles.actions}>
        {['tar.gz', 'zip'].map((format) => (
          <a key={format} className={styles.link} href={href(format)} download>
            <FileArchive size={14} aria-hidden />
            Download .{format}
          </a>
        ))}
      </div>
    </PanelSection>
  )
}
