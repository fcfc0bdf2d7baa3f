import { readdirSync } from 'node:fs'
import { fileLimits, isWorkspacePath } from '@atelier/contract/agent-files'
import { faultFrom } from '../fault.ts'
import { type DirectoryHandle, openDirectory } from './directory-handle.ts'
import { createIgnoreRules, type IgnoreRules } from './ignore-rules.ts'

export interface WalkOptions {
  /** where to begin; its own entry is not part of the walk */
  path: string
  /** levels below `path` */
  depth: number
  gitignore: 'show' | 'mark' | 'hide'
  /** names of directories that are not entered */
  closed?: readonly string[] | undefined
  /** begin after this path, as an earlier walk ended */
  after?: string | undefined
}

export interface Walked {
  path: string
  name: string
  /** open while this entry is looked at, not longer */
  parent: DirectoryHandle
  isDirectory: boolean
  /** named by a `.gitignore`; always false unless the walk marks */
  ignored: boolean
}

interface Level {
  directory: DirectoryHandle
  path: string
  depth: number
  rules: IgnoreRules
  /** names of `after` from this level down; empty when everything here comes after it */
  after: string[]
}

/**
 * Entries below a path, a directory before what it holds, names in code-unit order. Links are entries and are not
 * followed. What vanishes or cannot be read during the walk is left out, and so is a name that is not UTF-8.
 */
export function* walk(root: DirectoryHandle, options: WalkOptions): Generator<Walked> {
  const { path, depth, gitignore } = options
  const rules = gitignore === 'show' ? createIgnoreRules() : rulesAbove(root, path)
  using directory = openDirectory(root, path)
  const after = options.after === undefined ? [] : namesBelow(path, options.after)
  yield* walkLevel({ directory, path, depth, rules, after }, { gitignore, closed: new Set(options.closed) })
}

interface LevelOptions {
  gitignore: WalkOptions['gitignore']
  closed: ReadonlySet<string>
}

function* walkLevel(level: Level, options: LevelOptions): Generator<Walked> {
  const { gitignore, closed } = options
  const rules = gitignore === 'show' ? level.rules : level.rules.below(level.path, level.directory)
  const resumeAt = level.after[0]
  for (const { name, isDirectory } of readNames(level.directory)) {
    if (resumeAt !== undefined && name < resumeAt) continue
    const path = level.path === '' ? name : `${level.path}/${name}`
    const ignored = gitignore !== 'show' && rules.ignores(path, isDirectory)
    if (ignored && gitignore === 'hide') continue
    if (name !== resumeAt) yield { path, name, parent: level.directory, isDirectory, ignored }
    if (!isDirectory || level.depth <= 1 || ignored || closed.has(name)) continue
    const child = openQuietly(level.directory, name)
    if (child === undefined) continue
    const after = name === resumeAt ? level.after.slice(1) : []
    try {
      yield* walkLevel({ directory: child, path, depth: level.depth - 1, rules, after }, options)
    } finally {
      child[Symbol.dispose]()
    }
  }
}

function readNames(directory: DirectoryHandle): { name: string; isDirectory: boolean }[] {
  let entries: { name: string; isDirectory(): boolean }[]
  try {
    entries = readdirSync(directory.at(), { withFileTypes: true })
  } catch (error) {
    if (faultFrom(error).code === 'INTERNAL') throw error
    return []
  }
  return entries
    .filter(({ name }) => !name.includes('\ufffd') && isWorkspacePath(name))
    .map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

function openQuietly(parent: DirectoryHandle, name: string): DirectoryHandle | undefined {
  try {
    return parent.open(name)
  } catch (error) {
    if (faultFrom(error).code === 'INTERNAL') throw error
    return undefined
  }
}

/** The rules that hold at `path`, gathered from the root down, without those of `path` itself. */
function rulesAbove(root: DirectoryHandle, path: string): IgnoreRules {
  let rules = createIgnoreRules()
  const names = path === '' ? [] : path.split('/')
  for (let index = 0; index < names.length; index += 1) {
    const above = names.slice(0, index).join('/')
    using directory = openDirectory(root, above)
    rules = rules.below(above, directory)
  }
  return rules
}

function namesBelow(base: string, path: string): string[] {
  if (base === '') return path.split('/')
  return path.startsWith(`${base}/`) ? path.slice(base.length + 1).split('/') : []
}

export const wholeTree = { path: '', depth: fileLimits.depth } as const
