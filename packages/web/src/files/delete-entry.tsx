import type { DirectoryEntry } from '@atelier/contract'
import { useState } from 'react'
import { useDocuments } from '../editing/use-documents.ts'
import { formatCount } from '../lib/format.ts'
import { useStore } from '../lib/store.ts'
import { useIde } from '../shell/use-ide.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { useWorkspaceFiles } from './file-tree-context.tsx'
import { isAtOrBelow } from './tabs.ts'
import { countBelow } from './tree-field.ts'
import { useFileActions } from './use-file-actions.ts'

/** Says what goes before it goes. */
export function DeleteEntry({ entry, onClose }: { entry: DirectoryEntry; onClose: () => void }) {
  const actions = useFileActions()
  const { tree, truncated } = useWorkspaceFiles()
  const documents = useDocuments(useIde().location.workspaceId)
  const unsaved = useStore(
    documents.edited,
    (paths) => [...paths].filter((path) => isAtOrBelow(path, entry.path)).length,
  )
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const remove = async () => {
    setBusy(true)
    try {
      await actions.remove(entry)
      onClose()
    } catch (failed) {
      setError(failed)
      setBusy(false)
    }
  }
  return (
    <Dialog title={`Delete “${entry.name}”?`} onClose={onClose}>
      <DialogBody>
        <p>{wordsFor(entry, countBelow(tree, entry.path), truncated)}</p>
        {unsaved > 0 && (
          <p>
            {formatCount(unsaved, 'open file')} with edits that are not saved {unsaved === 1 ? 'goes' : 'go'}{' '}
            too.
          </p>
        )}
        {error !== undefined && <ErrorNotice error={error} kept="Nothing was deleted." />}
      </DialogBody>
      <DialogActions>
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button variant="danger" busy={busy} autoFocus onClick={() => void remove()}>
          Delete
        </Button>
      </DialogActions>
    </Dialog>
  )
}

function wordsFor(entry: DirectoryEntry, below: { files: number; folders: number }, cut: boolean): string {
  if (entry.kind === 'symlink') return `The link ${entry.path} goes; what it points to stays.`
  if (entry.kind !== 'directory') return `The file ${entry.path} goes. You can bring it back for a moment.`
  if (below.files + below.folders === 0) return `The folder ${entry.path} goes, with all that is in it.`
  const folders = below.folders === 0 ? '' : ` and ${formatCount(below.folders, 'folder')}`
  const least = cut ? 'at least ' : ''
  return `The folder ${entry.path} goes, with ${least}${formatCount(below.files, 'file')}${folders} in it. This cannot be undone.`
}
