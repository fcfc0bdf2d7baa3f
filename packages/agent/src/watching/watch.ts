import { processLimits, type WatchEvent } from '@atelier/contract/agent-processes'
import type { Call } from '../call.ts'
import { globMatcher } from '../files/ignore-rules.ts'
import type { Change, ChangeType } from './native-watcher.ts'
import type { WatchHub } from './watch-hub.ts'

/** Changes kept for a slow listener; beyond it they are dropped and the listener is told to read anew. */
const maxPending = 20_000
/** Bytes of paths in one event: with the rest it stays under the limit of a frame's header. */
const maxEventBytes = 256 * 1024

/** Reports changes until cancelled; while the listener is slow they are merged by path. */
export async function runWatch(hub: WatchHub, call: Call<'watch.start'>): Promise<never> {
  const pending = createPendingChanges(call.params.ignore)
  const remove = await hub.add({
    state: (state) => pending.state(state),
    changes: (changes) => pending.add(changes),
    lost: () => pending.lose(),
  })
  call.signal.addEventListener('abort', () => pending.wake(), { once: true })
  try {
    for (;;) {
      call.signal.throwIfAborted()
      const event = pending.next()
      if (event === undefined) await pending.more()
      else await call.emit(event)
    }
  } finally {
    await remove()
  }
}

function createPendingChanges(ignore: string[]) {
  const ignored = ignore.length === 0 ? () => false : globMatcher(ignore.join('\n'))
  const changes = new Map<string, ChangeType>()
  const states: WatchEvent[] = []
  let overflow = false
  let notify: (() => void) | undefined

  function wake(): void {
    notify?.()
    notify = undefined
  }

  function lose(): void {
    changes.clear()
    overflow = true
    wake()
  }

  return {
    wake,
    lose,
    state(state: WatchEvent) {
      states.push(state)
      wake()
    },
    add(news: Change[]) {
      for (const { path, type } of news) if (!ignored(path)) merge(changes, path, type)
      if (changes.size > maxPending) lose()
      wake()
    },
    next(): WatchEvent | undefined {
      const state = states.shift()
      if (state !== undefined) return state
      if (changes.size === 0 && !overflow) return undefined
      const event: WatchEvent = { kind: 'changes', changes: takeSome(changes), overflow }
      overflow = false
      return event
    },
    more: () =>
      new Promise<void>((resolve) => {
        notify = resolve
      }),
  }
}

function merge(changes: Map<string, ChangeType>, path: string, type: ChangeType): void {
  const before = changes.get(path)
  if (before === 'create' && type === 'delete') changes.delete(path)
  else if (before === 'create' && type === 'update') return
  else changes.set(path, before === 'delete' && type === 'create' ? 'update' : type)
}

function takeSome(changes: Map<string, ChangeType>): Change[] {
  const taken: Change[] = []
  let bytes = 0
  for (const [path, type] of changes) {
    bytes += Buffer.byteLength(path)
    if (taken.length >= processLimits.changes || (bytes > maxEventBytes && taken.length > 0)) break
    taken.push({ path, type })
    changes.delete(path)
  }
  return taken
}
