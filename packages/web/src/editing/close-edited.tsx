import { useState } from 'react'
import { useIde } from '../shell/use-ide.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { useDocuments } from './use-documents.ts'

interface CloseEditedProps {
  path: string
  /** the edits are saved or given up: the tab can go */
  onClosed: () => void
  onCancel: () => void
}

/** Asks what becomes of edits whose tab is closed. */
export function CloseEdited({ path, onClosed, onCancel }: CloseEditedProps) {
  const documents = useDocuments(useIde().location.workspaceId)
  const [saving, setSaving] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const name = path.slice(path.lastIndexOf('/') + 1)
  const save = async () => {
    setSaving(true)
    try {
      const document = await documents.load(path)
      if (await document.save()) {
        documents.close(path)
        return onClosed()
      }
      // A conflict is decided where both texts can be seen.
      if (document.store.get().theirs !== null) return onCancel()
      setError(document.store.get().saveError)
    } catch (failed) {
      setError(failed)
    }
    setSaving(false)
  }
  return (
    <Dialog title={`Save “${name}” before it is closed?`} onClose={onCancel}>
      <DialogBody>
        <p>It has edits that are not saved. Without saving they are lost.</p>
        {error !== undefined && <ErrorNotice error={error} kept="Nothing is lost: the tab stays open." />}
      </DialogBody>
      <DialogActions>
        <Button variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <Button
          onClick={() => {
            documents.close(path)
            onClosed()
          }}
        >
          Don’t save
        </Button>
        <Button variant="primary" busy={saving} onClick={() => void save()}>
          Save
        </Button>
      </DialogActions>
    </Dialog>
  )
}
