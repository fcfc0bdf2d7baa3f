import { type BigIntStats, chmodSync, linkSync, renameSync, unlinkSync } from 'node:fs'
import type { WriteBase, WrittenFile } from '@atelier/contract/agent-files'
import type { AgentParams } from '@atelier/contract/agent-protocol'
import { errnoOf, Fault } from '../fault.ts'
import { type DirectoryHandle, ensureDirectory, openDirectory, splitPath } from './directory-handle.ts'
import { entryOf, lookUp, openRegularFile } from './open-file.ts'
import { versionOf } from './revision.ts'
import type { StagedFile } from './stage.ts'
import type { Workspace } from './workspace.ts'

/** A file that is there, as it was looked at; its revision is null where nobody asked for it. */
export interface Current {
  revision: string | null
  stats: BigIntStats
}

/** Somebody else may write between check and rename; after this many times we report a conflict. */
const attempts = 3

/**
 * Writes a whole file: staged and fsynced beside the workspace, checked against `base`, renamed into place, directory
 * fsynced. Throws CONFLICT with the current revision, TOO_LARGE, NOT_A_FILE, LINK_REFUSED.
 */
export async function writeFile(
  workspace: Workspace,
  params: AgentParams<'files.write'>,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<WrittenFile> {
  const staged = await workspace.stage.content(body, { maxBytes: params.maxBytes, signal })
  try {
    return await workspace.locks.one(params.path, () => place(workspace, params, staged))
  } finally {
    await workspace.stage.discard(staged.name)
  }
}

async function place(
  workspace: Workspace,
  params: AgentParams<'files.write'>,
  staged: StagedFile,
): Promise<WrittenFile> {
  const { parent, name } = splitPath(params.path)
  const open = params.createParents ? ensureDirectory : openDirectory
  using directory = open(workspace.root, parent)
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const current = await currentFor(params.base, workspace, directory, name)
    checkBase(params.base, current, params.path)
    const mode = modeFor(current, params.executable)
    // Staged content is 0644 already.
    if (mode !== 0o644) chmodSync(workspace.stage.directory().at(staged.name), mode)
    workspace.fence.check()
    // From here to the rename nothing else of this process runs.
    if (!isStill(current, lookUp(directory, name))) continue
    if (!moveIn(workspace.stage.directory().at(staged.name), directory.at(name), current)) continue
    await directory.synced()
    const stats = lookUp(directory, name)
    const modifiedAt = stats === undefined ? Date.now() : entryOf(params.path, stats).modifiedAt
    return {
      path: params.path,
      revision: staged.revision,
      size: staged.size,
      modifiedAt,
      created: current === undefined,
    }
  }
  throw new Fault('CONFLICT', `${params.path} keeps changing`, { details: { revision: null } })
}

/** What is there, with its revision only where `base` makes it matter: hashing a file costs reading it. */
export async function currentFor(
  base: WriteBase,
  workspace: Workspace,
  parent: DirectoryHandle,
  name: string,
): Promise<Current | undefined> {
  const stats = lookUp(parent, name)
  if (stats === undefined) return undefined
  if (base.kind !== 'any' || !stats.isFile()) return await currentOf(workspace, parent, name)
  return { revision: null, stats }
}

/** Reads the revision of what is there; undefined if nothing is. A link or a directory is refused. */
export async function currentOf(
  workspace: Workspace,
  parent: DirectoryHandle,
  name: string,
): Promise<Current | undefined> {
  try {
    const { file, stats } = await openRegularFile(parent, name)
    try {
      return { revision: await workspace.revisions.of(file, stats), stats }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

export function checkBase(base: WriteBase, current: Current | undefined, path: string): void {
  const revision = current?.revision ?? null
  if (base.kind === 'absent' && current !== undefined) {
    throw new Fault('CONFLICT', `${path} is there already`, { details: { path, revision } })
  }
  if (base.kind === 'revision' && revision !== base.revision) {
    throw new Fault('CONFLICT', `${path} is at another revision`, { details: { path, revision } })
  }
}

export function isStill(current: Current | undefined, now: BigIntStats | undefined): boolean {
  if (current === undefined || now === undefined) return current === undefined && now === undefined
  return versionOf(current.stats) === versionOf(now)
}

/** 0644 or 0755: as asked, else as the file was. */
export function modeFor(current: Current | undefined, executable: boolean | undefined): number {
  const wanted = executable ?? (current !== undefined && (current.stats.mode & 0o100n) !== 0n)
  return wanted ? 0o755 : 0o644
}

/** False if the name was taken meanwhile: a link fails where a rename would replace what somebody just created. */
function moveIn(staged: string, target: string, current: Current | undefined): boolean {
  if (current !== undefined) {
    renameSync(staged, target)
    return true
  }
  try {
    linkSync(staged, target)
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  }
  unlinkSync(staged)
  return true
}
