import type { Client } from '@atelier/client'
import { getLiveness } from '@atelier/contract'
import { createStore, type Store } from './store.ts'

/** `offline`: the browser has no network. `unreachable`: it has one, and the server does not answer. */
export type Connection = 'online' | 'offline' | 'unreachable'

/** Time between two attempts to reach the server again, in milliseconds; the probe's own limit is far above it. */
const probeEveryMs = 3_000

export interface ConnectionMonitor {
  readonly state: Store<Connection>
  onReached(): void
  onUnreachable(): void
  /** Watches the browser's own signals until the returned function is called. */
  start(): () => void
}

/** Knows whether the server can be reached, and asks it again while it cannot. `onReturn` runs when it can once more. */
export function createConnectionMonitor(deps: { client: Client; onReturn: () => void }): ConnectionMonitor {
  const state = createStore<Connection>(navigator.onLine ? 'online' : 'offline')
  let probe: ReturnType<typeof setTimeout> | undefined

  function onReached(): void {
    clearTimeout(probe)
    probe = undefined
    if (state.get() === 'online') return
    state.set('online')
    deps.onReturn()
  }

  function onUnreachable(): void {
    state.set(navigator.onLine ? 'unreachable' : 'offline')
    probe ??= setTimeout(ask, probeEveryMs)
  }

  async function ask(): Promise<void> {
    probe = undefined
    try {
      await deps.client.call(getLiveness)
      onReached()
    } catch {
      // Still away; the next attempt is due, and the status line says so meanwhile.
      onUnreachable()
    }
  }

  return {
    state,
    onReached,
    onUnreachable,
    start() {
      const gone = () => onUnreachable()
      const back = () => void ask()
      addEventListener('offline', gone)
      addEventListener('online', back)
      return () => {
        removeEventListener('offline', gone)
        removeEventListener('online', back)
        clearTimeout(probe)
      }
    },
  }
}
