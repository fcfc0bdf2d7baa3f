import { useEffect, useRef } from 'react'
import { useNarrow } from '../lib/use-media.ts'
import styles from './editing.module.css'
import type { OpenDocument } from './open-document.ts'

interface CompareViewProps {
  document: OpenDocument
  theirs: string
  path: string
}

/** The text on disk and the person's own, side by side, or in one column where there is no room. Own text stays editable. */
export function CompareView({ document, theirs, path }: CompareViewProps) {
  const host = useRef<HTMLDivElement>(null)
  const narrow = useNarrow()
  useEffect(() => {
    let left = false
    let close = () => {}
    const open = async () => {
      const { createCompareEditor } = await import('./compare-editor.ts')
      if (left || host.current === null) return
      const fileName = path.slice(path.lastIndexOf('/') + 1)
      close = createCompareEditor({
        parent: host.current,
        theirs,
        mine: document.text(),
        fileName,
        sideBySide: !narrow,
        onMine: (text) => document.restore(text),
      })
    }
    void open()
    return () => {
      left = true
      close()
    }
  }, [document, theirs, path, narrow])
  return (
    <div className={styles.compare}>
      <div className={styles.sides} aria-hidden>
        <span>On disk</span>
        <span>Yours</span>
      </div>
      <div ref={host} className={styles.merge} data-testid="compare" />
    </div>
  )
}
