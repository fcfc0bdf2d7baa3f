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

/** Loads `watcher.node` from beside the program. Throws if there is none for this machine. */
export function loadNativeWatcher(directory: string): NativeWatcher {
  return Shape.parse(createRequire(`${directory}/`)('./watcher.node'))
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
