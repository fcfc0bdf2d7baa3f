import { readdirSync } from 'node:fs'
import { Fault } from '../fault.ts'
import type { DirectoryHandle } from './directory-handle.ts'
import { lookUp } from './open-file.ts'
import type { Step } from './steps.ts'

export interface MergePlan {
  steps: Step[]
  /** files that are there already, by their path in the workspace */
  replaced: string[]
  /** names in the stage that hold what was replaced */
  backups: string[]
}

interface Place {
  /** the staged directory's path in the stage */
  staged: string
  /** the same directory's path in the workspace */
  path: string
  freshName: () => string
}

/**
 * How a staged tree comes into a directory: what is new moves as a whole, directories that are on both sides are merged,
 * files on both sides are replaced. Throws CONFLICT where one side has a directory and the other has not.
 */
export function planMerge(from: DirectoryHandle, into: DirectoryHandle, place: Place): MergePlan {
  const plan: MergePlan = { steps: [], replaced: [], backups: [] }
  merge(from, into, place, plan)
  return plan
}

function merge(from: DirectoryHandle, into: DirectoryHandle, place: Place, plan: MergePlan): void {
  for (const entry of readdirSync(from.at(), { withFileTypes: true })) {
    const { name } = entry
    const path = place.path === '' ? name : `${place.path}/${name}`
    const staged = `${place.staged}/${name}`
    const there = lookUp(into, name)
    if (there === undefined) {
      plan.steps.push({ kind: 'place', staged, path, backup: null })
    } else if (entry.isDirectory() && there.isDirectory()) {
      using source = from.open(name)
      using target = into.open(name)
      merge(source, target, { ...place, staged, path }, plan)
    } else if (entry.isDirectory() || !there.isFile()) {
      throw new Fault('CONFLICT', `${path} is there and is of another kind`, { details: { paths: [path] } })
    } else {
      const backup = place.freshName()
      plan.replaced.push(path)
      plan.backups.push(backup)
      plan.steps.push({ kind: 'place', staged, path, backup })
    }
  }
}
