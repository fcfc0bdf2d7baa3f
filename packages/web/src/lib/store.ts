import { useSyncExternalStore } from 'react'

/** A value that components can watch. */
export interface Store<Value> {
  get(): Value
  set(next: Value | ((current: Value) => Value)): void
  subscribe(listener: () => void): () => void
}

export function createStore<Value>(initial: Value): Store<Value> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      const changed = typeof next === 'function' ? (next as (current: Value) => Value)(value) : next
      if (Object.is(changed, value)) return
      value = changed
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Watches a part of a store. `select` must return a value that stays identical while the part does not change. */
export function useStore<Value, Part = Value>(
  store: Store<Value>,
  select: (value: Value) => Part = (value) => value as unknown as Part,
): Part {
  return useSyncExternalStore(store.subscribe, () => select(store.get()))
}
