import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { IconButton } from './button.tsx'
import { classes } from './classes.ts'
import styles from './dialog.module.css'

export interface DialogProps {
  title: string
  /** told when the person leaves by Escape, the cross or a click beside it */
  onClose: () => void
  children: ReactNode
  size?: 'small' | 'wide'
  /** hides the visible title, as for palettes; it is still the accessible name */
  bare?: boolean
  /** false keeps the dialog until its work has ended */
  dismissible?: boolean
}

const firstField = 'input:not([type=hidden], [type=checkbox]), textarea, select'

/** A modal on the native element: focus stays inside, and goes back to where it was when it closes. Mounted means open. */
export function Dialog({
  title,
  onClose,
  children,
  size = 'small',
  bare = false,
  dismissible = true,
}: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()

  useEffect(() => {
    const element = dialog.current
    const opener = document.activeElement
    element?.showModal()
    // The browser would choose the cross; a person opened the dialog to type or to decide.
    element?.querySelector<HTMLElement>(firstField)?.focus()
    return () => {
      element?.close()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the keyboard's way out, through onCancel
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      className={classes(styles.dialog, styles[size], bare && styles.bare)}
      onCancel={(event) => {
        event.preventDefault()
        if (dismissible) onClose()
      }}
      onClick={(event) => {
        if (dismissible && event.target === dialog.current) onClose()
      }}
    >
      <div className={styles.frame}>
        <header className={bare ? 'visually-hidden' : styles.header}>
          <h2 id={titleId}>{title}</h2>
          {!bare && dismissible && <IconButton icon={X} label="Close" side="left" onClick={onClose} />}
        </header>
        {children}
      </div>
    </dialog>
  )
}

export function DialogBody({ children }: { children: ReactNode }) {
  return <div className={styles.body}>{children}</div>
}

export function DialogActions({ children }: { children: ReactNode }) {
  return <footer className={styles.actions}>{children}</footer>
}
