import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import ignore, { type Ignore } from 'ignore'
import { errnoOf } from '../fault.ts'
import type { DirectoryHandle } from './directory-handle.ts'

/** A `.gitignore` above this is not read: it is not one. */
const maxRulesBytes = 256 * 1024

/** The rules of one directory and of those above it. */
export interface IgnoreRules {
  /** Rules that also hold below `path`, whose own `.gitignore` is read through `directory`. */
  below(path: string, directory: DirectoryHandle): IgnoreRules
  ignores(path: string, isDirectory: boolean): boolean
}

export function createIgnoreRules(): IgnoreRules {
  return rulesOf([])
}

function rulesOf(levels: { base: string; rules: Ignore }[]): IgnoreRules {
  return {
    below(path, directory) {
      const text = readRules(directory)
      if (text === undefined) return rulesOf(levels)
      return rulesOf([...levels, { base: path === '' ? '' : `${path}/`, rules: ignore().add(text) }])
    },
    ignores(path, isDirectory) {
      if (path === '.git' || path.endsWith('/.git')) return true
      // The nearest rules speak last, as Git has it.
      for (const { base, rules } of levels.toReversed()) {
        const verdict = rules.test(path.slice(base.length) + (isDirectory ? '/' : ''))
        if (verdict.ignored || verdict.unignored) return verdict.ignored
      }
      return false
    },
  }
}

function readRules(directory: DirectoryHandle): string | undefined {
  let descriptor: number
  try {
    descriptor = openSync(
      directory.at('.gitignore'),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    )
  } catch (error) {
    if (errnoOf(error) !== undefined) return undefined
    throw error
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.size > maxRulesBytes) return undefined
    const buffer = Buffer.alloc(stats.size)
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, buffer.length, 0))
  } finally {
    closeSync(descriptor)
  }
}

/** True for paths a pattern in the language of `.gitignore` names: `*.ts` anywhere, `/src/**` from the root. */
export function globMatcher(glob: string): (path: string) => boolean {
  const rules = ignore().add(glob)
  return (path) => rules.ignores(path)
}
