import type { z } from 'zod'
import { createStore, type Store } from './store.ts'

export interface PersistedStoreOptions<Value> {
  /** name in the browser's storage */
  key: string
  /** what a stored value must look like; another one is left aside */
  schema: z.ZodType<Value>
  initial: Value
  storage: Storage
  /** a store that changes often is written at most this often, in milliseconds; 0 writes at once */
  writeEveryMs?: number
}

/** A store that survives a reload. A browser that refuses storage (private mode, full quota) still has it in memory. */
export function createPersistedStore<Value>(options: PersistedStoreOptions<Value>): Store<Value> {
  const { key, storage, writeEveryMs = 0 } = options
  const store = createStore(readStored(options))
  let timer: ReturnType<typeof setTimeout> | undefined

  const write = () => {
    timer = undefined
    writeStored(storage, key, store.get())
  }
  store.subscribe(() => {
    if (writeEveryMs === 0) write()
    else timer ??= setTimeout(write, writeEveryMs)
  })
  // A page that is being left writes what it still owes.
  if (writeEveryMs > 0) {
    globalThis.addEventListener?.('pagehide', () => {
      if (timer === undefined) return
      clearTimeout(timer)
      write()
    })
  }
  return store
}

function readStored<Value>({ key, schema, initial, storage }: PersistedStoreOptions<Value>): Value {
  try {
    const text = storage.getItem(key)
    if (text === null) return initial
    const parsed = schema.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : initial
  } catch {
    // Unreadable storage is as good as empty: there is nothing a person could do about it.
    return initial
  }
}

function writeStored(storage: Storage, key: string, value: unknown): void {
  try {
    storage.setItem(key, JSON.stringify(value))
  } catch {
    // A full or forbidden storage costs only what a reload would have brought back.
  }
}
