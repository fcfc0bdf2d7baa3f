import { watch } from 'node:fs'
import { createRequire } from 'node:module'
import * as z from 'zod'

export type ChangeType = 'create' | 'update' | 'delete'

export interface Change {
  /** absolute from the native watcher, relative to the root everywhere else */
  path: string
  type: ChangeType
}

interface NativeOptions {
  /** whole-string regular expressions over paths relative to the directory */
  ignoreGlobs: string[]
}
type Listener = (error: Error | null, events: Change[]) => void

/** The native half of @parcel/watcher. */
export interface NativeWatcher {
  subscribe(directory: string, listener: Listener, options: NativeOptions): Promise<void>
  unsubscribe(directory: string, listener: Listener, options: NativeOptions): Promise<void>
}

const Shape = z.custom<NativeWatcher>(
  (value) => typeof value === 'object' && value !== null && 'subscribe' in value && 'unsubscribe' in value,
)

/**
 * Loads `watcher.node` from beside the program. Throws if there is none for this machine.
 *
 * Without a free inotify instance the native half never returns, and it asks for a new one whenever its last
 * subscription has ended. So an instance is looked for first, and a subscription to the program's own directory keeps it.
 */
export function loadNativeWatcher(directory: string): NativeWatcher {
  const native = Shape.parse(createRequire(`${directory}/`)('./watcher.node'))
  let kept: Promise<void> | undefined

  async function keepInstance(): Promise<void> {
    try {
      watch(directory).close()
      await native.subscribe(directory, () => undefined, { ignoreGlobs: [] })
    } catch (error) {
      kept = undefined
      throw error
    }
  }

  return {
    async subscribe(path, listener, options) {
      kept ??= keepInstance()
      await kept
      await native.subscribe(path, listener, options)
    },
    unsubscribe: (path, listener, options) => native.unsubscribe(path, listener, options),
  }
}

/** Directories that hold what programs make and nobody edits; watching them would use up the machine's watches. */
export const unwatched = [
  '.git',
  'node_modules',
  '.venv',
  '__pycache__',
  '.cache',
  '.gradle',
  '.next',
  '.turbo',
] as const

/** One regular expression for all of them, at any depth, and for what is inside. */
export const unwatchedPattern = `(?:.*/)?(?:${unwatched.map((name) => name.replaceAll('.', '\\.')).join('|')})(?:/.*)?`
