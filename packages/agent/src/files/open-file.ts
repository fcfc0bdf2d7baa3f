import { type BigIntStats, constants, lstatSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { AgentFileEntry } from '@atelier/contract/agent-files'
import { Fault } from '../fault.ts'
import { type DirectoryHandle, openDirectory, splitPath } from './directory-handle.ts'

/** O_NONBLOCK: a FIFO planted under the name would otherwise hold the thread until somebody writes to it. */
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Opens a regular file inside `parent`; a link, a directory or anything else is refused. */
export async function openRegularFile(
  parent: DirectoryHandle,
  name: string,
): Promise<{ file: FileHandle; stats: BigIntStats }> {
  const file = await open(parent.at(name), readFlags)
  try {
    const stats = await file.stat({ bigint: true })
    if (!stats.isFile()) throw new Fault('NOT_A_FILE', `${name} is not a regular file`)
    return { file, stats }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** As openRegularFile, from a path of the workspace. */
export async function openWorkspaceFile(
  root: DirectoryHandle,
  path: string,
): Promise<{ file: FileHandle; stats: BigIntStats }> {
  const { parent, name } = splitPath(path)
  using directory = openDirectory(root, parent)
  return await openRegularFile(directory, name)
}

/** What is under a name, links not followed; undefined if nothing is. */
export function lookUp(parent: DirectoryHandle, name: string): BigIntStats | undefined {
  return lstatSync(parent.at(name), { bigint: true, throwIfNoEntry: false })
}

export function entryOf(path: string, stats: BigIntStats): AgentFileEntry {
  const type = stats.isFile()
    ? 'file'
    : stats.isDirectory()
      ? 'directory'
      : stats.isSymbolicLink()
        ? 'symlink'
        : 'other'
  return {
    path,
    type,
    size: Number(stats.size),
    modifiedAt: Number(stats.mtimeNs / 1000n) / 1000,
    executable: type === 'file' && (stats.mode & 0o100n) !== 0n,
  }
}
