import { X } from 'lucide-react'
import { useEffect } from 'react'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { Button, IconButton } from './button.tsx'
import type { Toast } from './toast-store.ts'
import styles from './toasts.module.css'

/** Long enough to read two lines and reach the action, in milliseconds; errors stay until they are dismissed. */
const shownMs = 8_000

export function Toasts() {
  const { toasts } = useServices()
  const list = useStore(toasts.list)
  return (
    <section className={styles.toasts} aria-label="Notifications" aria-live="polite">
      {list.map((toast) => (
        <ToastLine key={toast.id} toast={toast} onDismiss={() => toasts.dismiss(toast.id)} />
      ))}
    </section>
  )
}

function ToastLine({ toast, onDismiss }: { toast: Toast; onDismiss: () => void }) {
  useEffect(() => {
    if (toast.tone === 'error') return
    const timer = setTimeout(onDismiss, shownMs)
    return () => clearTimeout(timer)
  }, [toast, onDismiss])
  const { action } = toast
  return (
    <div className={styles.toast} data-tone={toast.tone}>
      <span>{toast.text}</span>
      {action !== undefined && (
        <Button
          variant="quiet"
          onClick={() => {
            action.run()
            onDismiss()
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton icon={X} label="Dismiss" side="left" size={14} onClick={onDismiss} />
    </div>
  )
}
