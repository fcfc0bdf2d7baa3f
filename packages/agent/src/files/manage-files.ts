import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import type { AgentFileEntry } from '@atelier/contract/agent-files'
import type { AgentParams, AgentResult } from '@atelier/contract/agent-protocol'
import { errnoOf, Fault } from '../fault.ts'
import { type DirectoryHandle, ensureDirectory, openDirectory, splitPath } from './directory-handle.ts'
import { entryOf, lookUp, openRegularFile } from './open-file.ts'
import type { Workspace } from './workspace.ts'
import { checkBase, currentOf } from './write-file.ts'

export async function statFile(
  workspace: Workspace,
  params: AgentParams<'files.stat'>,
): Promise<AgentFileEntry> {
  if (params.path === '') {
    const stats = lookUp(workspace.root, '.')
    if (stats === undefined) throw new Fault('NOT_FOUND', 'the workspace has no root')
    return entryOf('', stats)
  }
  const { parent, name } = splitPath(params.path)
  using directory = openDirectory(workspace.root, parent)
  const stats = lookUp(directory, name)
  if (stats === undefined) throw notThere(params.path)
  const entry = entryOf(params.path, stats)
  return params.revision && entry.type === 'file'
    ? { ...entry, revision: await revisionOf(workspace, directory, name) }
    : entry
}

export async function revisionOf(
  workspace: Workspace,
  parent: DirectoryHandle,
  name: string,
): Promise<string> {
  const { file, stats } = await openRegularFile(parent, name)
  try {
    return await workspace.revisions.of(file, stats)
  } finally {
    await file.close()
  }
}

/** Making a directory that is there already is a success, unless `exclusive`. */
export function makeDirectory(
  workspace: Workspace,
  params: AgentParams<'files.mkdir'>,
): Promise<AgentFileEntry> {
  return workspace.locks.one(params.path, async () => {
    workspace.fence.check()
    const { parent, name } = splitPath(params.path)
    using directory = params.parents
      ? ensureDirectory(workspace.root, parent)
      : openDirectory(workspace.root, parent)
    try {
      mkdirSync(directory.at(name))
      directory.sync()
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
      if (params.exclusive) throw isThere(params.path)
    }
    const stats = lookUp(directory, name)
    if (stats?.isDirectory() !== true)
      throw new Fault('CONFLICT', `${params.path} is there and is not a directory`)
    return entryOf(params.path, stats)
  })
}

/** Moves a file, a directory or a link (the link itself) to a name that is free. */
export function moveEntry(workspace: Workspace, params: AgentParams<'files.move'>): Promise<AgentFileEntry> {
  return workspace.locks.all(async () => {
    workspace.fence.check()
    if (params.to === params.from || params.to.startsWith(`${params.from}/`)) {
      throw new Fault('INVALID', `${params.from} cannot be moved into itself`)
    }
    const from = splitPath(params.from)
    const to = splitPath(params.to)
    using source = openDirectory(workspace.root, from.parent)
    if (lookUp(source, from.name) === undefined) throw notThere(params.from)
    using target = params.createParents
      ? ensureDirectory(workspace.root, to.parent)
      : openDirectory(workspace.root, to.parent)
    if (lookUp(target, to.name) !== undefined) throw isThere(params.to)
    renameSync(source.at(from.name), target.at(to.name))
    target.sync()
    source.sync()
    const stats = lookUp(target, to.name)
    if (stats === undefined) throw notThere(params.to)
    return entryOf(params.to, stats)
  })
}

/** Removes an entry at once: it is renamed away, then taken apart. */
export async function deleteEntry(
  workspace: Workspace,
  params: AgentParams<'files.delete'>,
): Promise<AgentResult<'files.delete'>> {
  const trash = workspace.stage.freshName()
  await workspace.locks.all(async () => {
    const { parent, name } = splitPath(params.path)
    using directory = openDirectory(workspace.root, parent)
    const stats = lookUp(directory, name)
    if (stats === undefined) throw notThere(params.path)
    if (params.base !== undefined && stats.isFile())
      checkBase(params.base, await currentOf(workspace, directory, name), params.path)
    workspace.fence.check()
    if (stats.isDirectory() && !params.recursive) rmdirSync(directory.at(name))
    else renameSync(directory.at(name), workspace.stage.directory().at(trash))
    directory.sync()
  })
  await workspace.stage.discard(trash)
  return { path: params.path }
}

function isThere(path: string): Fault {
  return new Fault('CONFLICT', `${path} is there already`, { details: { path } })
}

function notThere(path: string): Fault {
  return new Fault('NOT_FOUND', `${path} is not there`)
}
