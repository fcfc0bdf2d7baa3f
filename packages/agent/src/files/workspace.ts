import { lstatSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../fault.ts'
import { type DirectoryHandle, openDirectoryAt } from './directory-handle.ts'
import { createFence, type Fence } from './fence.ts'
import { createJournal, type Journal } from './journal.ts'
import { createPathLocks, type PathLocks } from './path-locks.ts'
import { createRevisions, type Revisions } from './revision.ts'
import { openStage, type Stage } from './stage.ts'

/** The files of one workspace: the open root and what keeps changes to it whole. */
export interface Workspace extends Disposable {
  readonly rootPath: string
  readonly root: DirectoryHandle
  readonly stage: Stage
  readonly journal: Journal
  readonly locks: PathLocks
  readonly revisions: Revisions
  readonly fence: Fence
  /** what became of a batch that a crash had cut short */
  readonly recovered: 'none' | 'completed' | 'undone'
}

/**
 * Opens a workspace: takes ownership with `epoch`, finishes or undoes what a crash left, removes half-written files.
 * `statePath` must be on the root's file system. Throws FENCED if a newer epoch owns the workspace.
 */
export async function openWorkspace(paths: {
  rootPath: string
  statePath: string
  epoch: bigint
}): Promise<Workspace> {
  ensureRealDirectory(paths.rootPath)
  ensureRealDirectory(paths.statePath)
  const root = openDirectoryAt(paths.rootPath)
  const stage = openStage(join(paths.statePath, 'stage'))
  const fence = createFence(join(paths.statePath, 'epoch'), paths.epoch)
  const journal = createJournal({ path: join(paths.statePath, 'journal.json'), root, stage })
  const recovered = await journal.recover()
  await stage.purge()
  return {
    rootPath: paths.rootPath,
    root,
    stage,
    journal,
    locks: createPathLocks(),
    revisions: createRevisions(),
    fence,
    recovered,
    [Symbol.dispose]() {
      stage[Symbol.dispose]()
      root[Symbol.dispose]()
    },
  }
}

/** A link or a file in the directory's place is moved aside, so that the user cannot lock everybody out. */
function ensureRealDirectory(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats !== undefined && !stats.isDirectory()) renameSync(path, `${path}.moved-${Date.now()}`)
  mkdirSync(path, { recursive: true, mode: 0o755 })
  if (!lstatSync(path).isDirectory()) throw new Fault('NOT_A_DIRECTORY', `${path} is not a directory`)
}
