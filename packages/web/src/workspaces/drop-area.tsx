import { Upload } from 'lucide-react'
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import styles from './workspaces.module.css'

/** Takes files dropped anywhere on the page while it is shown, and says so during the drag. */
export function DropArea({
  onDrop,
  children,
}: {
  onDrop: (transfer: DataTransfer) => void
  children: ReactNode
}) {
  const [over, setOver] = useState(false)
  const drop = useEffectEvent(onDrop)
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      // A folder of the tree takes them itself, and must be seen.
      setOver(!(event.target instanceof Element && event.target.closest('[data-drop-folder]')))
    }
    const onEnd = () => setOver(false)
    // Leaving the window, not one element for another inside it.
    const onLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false)
    }
    const onDropped = (event: DragEvent) => {
      if (!hasFiles(event) || event.dataTransfer === null) return
      event.preventDefault()
      setOver(false)
      drop(event.dataTransfer)
    }
    addEventListener('dragover', onOver)
    addEventListener('dragleave', onLeave)
    addEventListener('drop', onDropped)
    addEventListener('drop', onEnd, true)
    return () => {
      removeEventListener('dragover', onOver)
      removeEventListener('dragleave', onLeave)
      removeEventListener('drop', onDropped)
      removeEventListener('drop', onEnd, true)
    }
  }, [])
  return (
    <>
      {children}
      {over && (
        <div className={styles.curtain}>
          <div>
            <Upload size={28} aria-hidden />
            Drop to import
          </div>
        </div>
      )}
    </>
  )
}
