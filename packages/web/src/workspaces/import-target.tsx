import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import styles from './import-target.module.css'

interface ImportTargetProps {
  folder: string
  onChoose: (stripRoot: boolean) => void
  onClose: () => void
}

/** Asks where a folder goes in a workspace that has files already. */
export function ImportTarget({ folder, onChoose, onClose }: ImportTargetProps) {
  const [stripRoot, setStripRoot] = useState(true)
  return (
    <Dialog title={`Import “${folder}”`} onClose={onClose}>
      <DialogBody>
        <p>This workspace has files already. A file of the same path is replaced; others stay.</p>
        <fieldset className={styles.choices}>
          <legend className="visually-hidden">Where the files go</legend>
          <Choice
            title="Its content, at the root"
            text="An update of the project that is here, or more files for it."
            checked={stripRoot}
            onSelect={() => setStripRoot(true)}
          />
          <Choice
            title="As a folder of its own"
            text="A second project beside the first."
            checked={!stripRoot}
            onSelect={() => setStripRoot(false)}
          />
        </fieldset>
      </DialogBody>
      <DialogActions>
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button variant="primary" onClick={() => onChoose(stripRoot)}>
          Import
        </Button>
      </DialogActions>
    </Dialog>
  )
}

function Choice(props: { title: string; text: string; checked: boolean; onSelect: () => void }) {
  return (
    <label className={styles.choice}>
      <input type="radio" name="target" checked={props.checked} onChange={props.onSelect} />
      <span>
        <strong>{props.title}</strong>
        <small>{props.text}</small>
      </span>
    </label>
  )
}
