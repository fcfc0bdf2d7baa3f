import { formatCount } from '../lib/format.ts'
import { useStore } from '../lib/store.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import { useWorkspaceFiles } from './file-tree-context.tsx'

/** Paths that are named; of more only the number is told. */
const mostNamed = 5

/** Asks before an upload replaces files. */
export function ReplaceFiles() {
  const { replacing } = useWorkspaceFiles()
  const question = useStore(replacing)
  if (question === null) return null
  const { paths, go } = question
  const close = () => replacing.set(null)
  return (
    <Dialog title={`Replace ${formatCount(paths.length, 'file')}?`} onClose={close}>
      <DialogBody>
        <p>
          {paths.slice(0, mostNamed).join(', ')}
          {paths.length > mostNamed && ` and ${paths.length - mostNamed} more`} will have the content you
          give. What is there now cannot be brought back.
        </p>
      </DialogBody>
      <DialogActions>
        <Button variant="quiet" onClick={close}>
          Cancel
        </Button>
        <Button
          variant="danger"
          onClick={() => {
            close()
            go()
          }}
        >
          Replace
        </Button>
      </DialogActions>
    </Dialog>
  )
}
