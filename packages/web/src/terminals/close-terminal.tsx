import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'

/** Asked before the terminal of somebody else is closed. */
export function CloseTerminal({
  name,
  onConfirm,
  onCancel,
}: {
  name: string
  onConfirm: () => void
  onCancel: () => void
}) {
  return (
    <Dialog title="Close a terminal of somebody else" onClose={onCancel}>
      <DialogBody>
        <p>What runs in “{name}” is hung up on, for everybody who looks at it.</p>
      </DialogBody>
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button variant="danger" onClick={onConfirm}>
          Close terminal
        </Button>
      </DialogActions>
    </Dialog>
  )
}
