import { constants, readFileSync } from 'node:fs'
import * as z from 'zod'
import { errnoOf, Fault, faultFrom } from '../fault.ts'
import { type DirectoryHandle, openDirectory } from './directory-handle.ts'
import { removeFileSync, replaceFileSync } from './replace-file.ts'
import type { Stage } from './stage.ts'
import { applyStep, directoriesOf, Step, undoStep } from './steps.ts'

const JournalContent = z.strictObject({ direction: z.enum(['apply', 'undo']), steps: z.array(Step) })
type JournalContent = z.infer<typeof JournalContent>

/** Makes a list of steps all or nothing, across a failure and across a crash. */
export interface Journal {
  /**
   * Writes the steps down, does them, makes them durable. If one fails, those done are undone and the failure is
   * thrown. Staged content must be fsynced before. The caller holds the lock over the whole workspace.
   */
  run(steps: Step[]): void
  /** Finishes what an earlier process left; if that cannot be finished, undoes it. */
  recover(): Promise<'none' | 'completed' | 'undone'>
}

export function createJournal(deps: { path: string; root: DirectoryHandle; stage: Stage }): Journal {
  const write = (content: JournalContent) => replaceFileSync(deps.path, JSON.stringify(content))

  function apply(steps: Step[]): void {
    const context = { root: deps.root, stage: deps.stage.directory() }
    for (const step of steps) applyStep(step, context)
    syncDirectories(deps.root, steps)
  }

  /** Goes back through all steps: one that was never done undoes to nothing. Returns what somebody stood in the way of. */
  function undo(steps: Step[]): Fault[] {
    const context = { root: deps.root, stage: deps.stage.directory() }
    const faults = steps.toReversed().flatMap((step) => faultOf(() => undoStep(step, context)) ?? [])
    syncDirectories(deps.root, steps)
    return faults
  }

  return {
    run(steps) {
      write({ direction: 'apply', steps })
      const failure = faultOf(() => apply(steps))
      if (failure === undefined) return removeFileSync(deps.path)
      write({ direction: 'undo', steps })
      const stuck = undo(steps)
      removeFileSync(deps.path)
      if (stuck.length === 0) throw failure
      throw new Fault(
        'INTERNAL',
        `${failure.message}; ${stuck.length} of ${steps.length} changes could not be undone`,
        {
          cause: new AggregateError([failure, ...stuck]),
        },
      )
    },
    async recover() {
      const left = readJournal(deps.path)
      if (left === undefined) {
        removeFileSync(deps.path)
        return 'none'
      }
      const outcome =
        left.direction === 'apply' && faultOf(() => apply(left.steps)) === undefined ? 'completed' : 'undone'
      if (outcome === 'undone') undo(left.steps)
      removeFileSync(deps.path)
      return outcome
    },
  }
}

function readJournal(path: string): JournalContent | undefined {
  let text: string
  try {
    text = readFileSync(path, {
      encoding: 'utf8',
      flag: constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ELOOP') return undefined
    throw error
  }
  // The file is written whole or not at all, so anything unreadable is the user's own doing and means nothing.
  try {
    return JournalContent.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

function syncDirectories(root: DirectoryHandle, steps: Step[]): void {
  for (const path of new Set(steps.flatMap(directoriesOf))) {
    // A directory that is gone has nothing left to make durable.
    faultOf(() => {
      using directory = openDirectory(root, path)
      directory.sync()
    })
  }
}

/** What the file system refused; a fault of the program itself is thrown. */
function faultOf(act: () => void): Fault | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    const fault = faultFrom(error)
    if (fault.code === 'INTERNAL') throw error
    return fault
  }
}
