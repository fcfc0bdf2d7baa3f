import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AgentParams, AgentResult } from '@atelier/contract/agent-protocol'
import { lookUp } from '../files/open-file.ts'
import { walk, wholeTree } from '../files/walk.ts'
import type { Workspace } from '../files/workspace.ts'
import { listProcesses, type ProcessStatus } from './process-table.ts'

const pageBytes = 4096
/** Entries of one measurement; beyond it the answer says that it is not complete. */
const countedEntries = 200_000
const entriesPerTurn = 500

/** Memory and processes are those of this agent and all below it; disk is what the workspace's files take. */
export async function measureUsage(
  workspace: Workspace,
  params: AgentParams<'agent.usage'>,
  signal: AbortSignal,
): Promise<AgentResult<'agent.usage'>> {
  const own = ownProcesses(listProcesses())
  const residentBytes =
    own.length === 0
      ? process.memoryUsage.rss()
      : own.reduce((sum, each) => sum + each.residentPages * pageBytes, 0)
  const disk = params.disk ? await measureDisk(workspace, signal) : null
  return { processes: Math.max(1, own.length), residentBytes, disk }
}

/** In a process namespace of our own everything is ours; else the agent's descendants. */
function ownProcesses(all: ProcessStatus[]): ProcessStatus[] {
  if (process.ppid <= 1) return all
  const own = new Set([process.pid])
  const children = Map.groupBy(all, (each) => each.parent)
  for (const pid of own) for (const child of children.get(pid) ?? []) own.add(child.pid)
  return all.filter((each) => own.has(each.pid))
}

async function measureDisk(workspace: Workspace, signal: AbortSignal) {
  const disk = { bytes: 0, files: 0, complete: true }
  const counted = new Set<bigint>()
  let seen = 0
  for (const { parent, name } of walk(workspace.root, { ...wholeTree, gitignore: 'show' })) {
    seen += 1
    if (seen > countedEntries) return { ...disk, complete: false }
    if (seen % entriesPerTurn === 0) {
      await nextTurn()
      signal.throwIfAborted()
    }
    const stats = lookUp(parent, name)
    // A file with several names is there once.
    if (stats === undefined || (stats.nlink > 1n && counted.has(stats.ino))) continue
    if (stats.nlink > 1n && stats.isFile()) counted.add(stats.ino)
    disk.bytes += Number(stats.blocks) * 512
    if (stats.isFile()) disk.files += 1
  }
  return disk
}
