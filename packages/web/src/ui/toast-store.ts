import { createStore, type Store } from '../lib/store.ts'

export interface Toast {
  id: number
  tone: 'info' | 'error'
  text: string
  action?: { label: string; run: () => void }
}

export interface ToastStore {
  readonly list: Store<readonly Toast[]>
  show(toast: Omit<Toast, 'id' | 'tone'> & { tone?: Toast['tone'] }): void
  dismiss(id: number): void
}

/** Most toasts at once: older ones leave first. */
const mostToasts = 3

export function createToastStore(): ToastStore {
  const list = createStore<readonly Toast[]>([])
  let nextId = 1
  return {
    list,
    show(toast) {
      const id = nextId
      nextId += 1
      list.set((shown) => [...shown, { tone: 'info' as const, ...toast, id }].slice(-mostToasts))
    },
    dismiss: (id) => list.set((shown) => shown.filter((toast) => toast.id !== id)),
  }
}
