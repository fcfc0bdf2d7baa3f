import { GitCompareArrows, TriangleAlert } from 'lucide-react'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { Button } from '../ui/button.tsx'
import styles from './editing.module.css'
import type { OpenDocument } from './open-document.ts'

interface ConflictBarProps {
  document: OpenDocument
  comparing: boolean
  onCompare: (comparing: boolean) => void
}

/** The file is another one on disk than the edits were made from: the person chooses, and can take the choice back. */
export function ConflictBar({ document, comparing, onCompare }: ConflictBarProps) {
  const { toasts } = useServices()
  const { theirs, saving } = useStore(document.store)
  if (theirs === null) return null
  const isGone = theirs.revision === null
  const keepMine = async () => {
    if (await document.keepMine()) onCompare(false)
  }
  const takeTheirs = () => {
    const mine = document.takeTheirs()
    onCompare(false)
    toasts.show({
      text: 'The text on disk was taken',
      action: { label: 'Bring mine back', run: () => document.restore(mine) },
    })
  }
  return (
    <div className={styles.conflict} role="alert">
      <TriangleAlert size={16} aria-hidden />
      <p>
        {isGone
          ? 'This file was deleted on disk. Your text is kept here.'
          : theirs.text === null
            ? 'This file is not text on disk any more. Your text is kept here.'
            : 'This file was changed on disk since you began to edit it. Both texts are kept: choose one, or take parts of both.'}
      </p>
      <div>
        {theirs.text !== null && (
          <Button icon={GitCompareArrows} aria-pressed={comparing} onClick={() => onCompare(!comparing)}>
            {comparing ? 'Back to the editor' : 'Compare'}
          </Button>
        )}
        {theirs.text !== null && <Button onClick={takeTheirs}>Take theirs</Button>}
        <Button variant="primary" busy={saving} onClick={() => void keepMine()}>
          {isGone ? 'Save it again' : 'Keep mine'}
        </Button>
      </div>
    </div>
  )
}
