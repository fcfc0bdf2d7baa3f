import { isWorkspacePath } from '@atelier/contract/agent-files'
import type { WatchEvent } from '@atelier/contract/agent-processes'
import type { Workspace } from '../files/workspace.ts'
import { hidesDirectories } from './hidden-directories.ts'
import { type Change, type NativeWatcher, unwatchedPattern } from './native-watcher.ts'
import { startPolling } from './polling.ts'
import { createQuietTimer } from './quiet-timer.ts'

/**
 * Changes in one report from which on more may have been lost: the kernel queues 16,384 events, and the native watcher
 * does not tell when that overflows.
 */
const manyChanges = 2000

export type WatchState = Extract<WatchEvent, { kind: 'state' }>

export interface WatchListener {
  state(state: WatchState): void
  changes(changes: Change[]): void
  /** changes were lost: what is known must be read anew */
  lost(): void
}

/** The one watcher of a workspace, started with the first listener and stopped with the last. */
export interface WatchHub {
  add(listener: WatchListener): Promise<() => Promise<void>>
  count(): number
}

interface Source {
  state: WatchState
  stop(): Promise<void>
}

/** `native` is the reason when there is no native watcher for this machine. */
export function createWatchHub(deps: { workspace: Workspace; native: NativeWatcher | string }): WatchHub {
  const { workspace, native } = deps
  const listeners = new Set<WatchListener>()
  let source: Promise<Source> | undefined

  const report = (changes: Change[]) => {
    for (const listener of listeners) listener.changes(changes)
  }

  function fall(reason: string): Source {
    const polling = startPolling(workspace.root, report)
    return {
      state: { kind: 'state', mode: 'polling', reason: reason.slice(0, 500) },
      stop: async () => polling.stop(),
    }
  }

  async function start(): Promise<Source> {
    if (typeof native === 'string') return fall(native)
    try {
      return await watchNatively(native)
    } catch (error) {
      return fall(error instanceof Error ? error.message : String(error))
    }
  }

  async function watchNatively(watcher: NativeWatcher): Promise<Source> {
    const options = { ignoreGlobs: [unwatchedPattern] }
    const renewal = createQuietTimer(() => void renew())
    const listener = (error: Error | null, events: Change[]) => {
      if (error !== null) return void degrade(error.message)
      const changes = relativeTo(workspace.rootPath, events)
      report(changes)
      if (changes.length > manyChanges || changes.some((change) => hidesDirectories(workspace.root, change)))
        renewal.touch()
    }
    await watcher.subscribe(workspace.rootPath, listener, options)
    return {
      state: { kind: 'state', mode: 'native', reason: null },
      stop() {
        renewal.stop()
        return watcher.unsubscribe(workspace.rootPath, listener, options)
      },
    }
  }

  /** Watches anew, because something has happened that the native watcher may not have seen. */
  async function renew(): Promise<void> {
    const before = source
    if (before === undefined) return
    const renewed = before.then(async (old) => {
      await old.stop().catch(() => undefined)
      return await start()
    })
    source = renewed
    const { state } = await renewed
    if (source !== renewed) return
    for (const listener of listeners) {
      if (state.mode !== 'native') listener.state(state)
      listener.lost()
    }
  }

  /** The native watcher has failed while running: what it missed is lost, and polling goes on in its place. */
  async function degrade(reason: string): Promise<void> {
    const failed = await source
    if (failed === undefined || failed.state.mode !== 'native') return
    const polling = fall(reason)
    source = Promise.resolve(polling)
    for (const listener of listeners) {
      listener.state(polling.state)
      listener.lost()
    }
    await failed.stop().catch(() => undefined)
  }

  return {
    count: () => listeners.size,
    async add(listener) {
      source ??= start()
      const { state } = await source
      listener.state(state)
      listeners.add(listener)
      return async () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        const last = source
        source = undefined
        await (await last)?.stop()
      }
    },
  }
}

function relativeTo(rootPath: string, events: Change[]): Change[] {
  const prefix = `${rootPath}/`
  return events
    .filter(({ path }) => path.startsWith(prefix))
    .map(({ path, type }) => ({ path: path.slice(prefix.length), type }))
    .filter(({ path }) => !path.includes('\ufffd') && isWorkspacePath(path))
}
