import { linkSync, lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { EntryPath } from '@atelier/contract/agent-files'
import * as z from 'zod'
import { errnoOf, Fault } from '../fault.ts'
import { type DirectoryHandle, openDirectory, splitPath } from './directory-handle.ts'
import { lookUp } from './open-file.ts'

const StageName = z.string().regex(/^[0-9a-f]{24}$/)
/** an entry of the stage, or one inside an unpacked archive there */
const StagePath = z
  .string()
  .regex(/^[0-9a-f]{24}(\/.+)?$/)
  .pipe(EntryPath)

/**
 * One rename of a change that is all or nothing. Every step can be done twice and undone twice with the same end,
 * because after a crash nobody knows how far the first attempt came.
 */
export const Step = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('mkdir'), path: EntryPath }),
  /** staged content into place; `backup` keeps what was there, null if nothing may be there */
  z.strictObject({
    kind: z.literal('place'),
    staged: StagePath,
    path: EntryPath,
    backup: StageName.nullable(),
  }),
  z.strictObject({ kind: z.literal('move'), from: EntryPath, to: EntryPath }),
  z.strictObject({ kind: z.literal('remove'), path: EntryPath, backup: StageName }),
])
export type Step = z.infer<typeof Step>

export interface StepContext {
  root: DirectoryHandle
  stage: DirectoryHandle
}

export function applyStep(step: Step, context: StepContext): void {
  if (step.kind === 'place') place(step, context)
  else if (step.kind === 'move') rename(context.root, step.from, context.root, step.to)
  else if (step.kind === 'remove') rename(context.root, step.path, context.stage, step.backup)
  else {
    within(context.root, step.path, (parent, name) => {
      if (lookUp(parent, name)?.isDirectory() !== true) mkdirSync(parent.at(name))
    })
  }
}

export function undoStep(step: Step, context: StepContext): void {
  if (step.kind === 'place') unplace(step, context)
  else if (step.kind === 'move') rename(context.root, step.to, context.root, step.from)
  else if (step.kind === 'remove') rename(context.stage, step.backup, context.root, step.path)
  else within(context.root, step.path, (parent, name) => removeEmpty(parent.at(name)))
}

/** The directories whose entries a step changes, to be fsynced. */
export function directoriesOf(step: Step): string[] {
  if (step.kind === 'move') return [splitPath(step.from).parent, splitPath(step.to).parent]
  return [splitPath(step.path).parent]
}

type Place = Extract<Step, { kind: 'place' }>

function place(step: Place, { root, stage }: StepContext): void {
  within(stage, step.staged, (source, staged) => {
    within(root, step.path, (parent, name) => {
      const content = lookUp(source, staged)
      if (content === undefined) return // done by an earlier attempt
      if (step.backup !== null) {
        keepBackup(parent.at(name), stage.at(step.backup))
        renameSync(source.at(staged), parent.at(name))
        return
      }
      const there = lookUp(parent, name)
      if (there !== undefined && there.ino !== content.ino)
        throw new Fault('CONFLICT', `${step.path} has appeared meanwhile`)
      if (content.isDirectory()) {
        renameSync(source.at(staged), parent.at(name))
        return
      }
      // A link fails where a rename would replace what somebody else has just created.
      if (there === undefined) linkExclusively(source.at(staged), parent.at(name), step.path)
      unlinkSync(source.at(staged))
    })
  })
}

/** The old content gets a second name, so there is no moment at which the path names nothing. */
function keepBackup(path: string, backup: string): void {
  try {
    linkSync(path, backup)
  } catch (error) {
    const errno = errnoOf(error)
    // Kept by an earlier attempt, or nothing was there to keep.
    if (errno !== 'EEXIST' && errno !== 'ENOENT') throw error
  }
}

function linkExclusively(from: string, to: string, path: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (errnoOf(error) === 'EEXIST')
      throw new Fault('CONFLICT', `${path} has appeared meanwhile`, { cause: error })
    throw error
  }
}

function unplace(step: Place, { root, stage }: StepContext): void {
  within(stage, step.staged, (source, staged) => {
    within(root, step.path, (parent, name) => {
      const waiting = lookUp(source, staged)
      const there = lookUp(parent, name)
      if (step.backup !== null) {
        if (waiting === undefined && there !== undefined) renameSync(parent.at(name), source.at(staged))
        if (lookUp(stage, step.backup) !== undefined) renameSync(stage.at(step.backup), parent.at(name))
      } else if (waiting === undefined) {
        renameSync(parent.at(name), source.at(staged))
      } else if (there?.ino === waiting.ino) {
        unlinkSync(parent.at(name)) // linked, but not yet unlinked from the stage
      }
    })
  })
}

/** Done only if the source is still there and nothing is in the way, so a second attempt changes nothing. */
function rename(fromRoot: DirectoryHandle, from: string, toRoot: DirectoryHandle, to: string): void {
  within(fromRoot, from, (source, sourceName) => {
    within(toRoot, to, (target, targetName) => {
      const waiting = lookUp(source, sourceName) !== undefined
      const occupied = lookUp(target, targetName) !== undefined
      if (!waiting && occupied) return
      if (occupied) throw new Fault('CONFLICT', `${to} has appeared meanwhile`)
      renameSync(source.at(sourceName), target.at(targetName))
    })
  })
}

function within(
  root: DirectoryHandle,
  path: string,
  act: (parent: DirectoryHandle, name: string) => void,
): void {
  const { parent, name } = splitPath(path)
  using directory = openDirectory(root, parent)
  act(directory, name)
}

function removeEmpty(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return
  try {
    rmdirSync(path)
  } catch (error) {
    // Somebody has put a file there since; it stays, and so must the directory.
    if (errnoOf(error) !== 'ENOTEMPTY') throw error
  }
}
