import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { AgentEvent, AgentParams, AgentResult } from '@atelier/contract/agent-protocol'
import { Fault } from '../fault.ts'
import { entryOf, openWorkspaceFile } from './open-file.ts'
import { versionOf } from './revision.ts'
import type { Workspace } from './workspace.ts'

/** Bytes of one data frame. */
const chunkSize = 128 * 1024

export interface ReadOutput {
  signal: AbortSignal
  opened(event: AgentEvent<'files.read'>): Promise<void>
  send(bytes: Uint8Array): Promise<void>
}

/**
 * Sends a file, or a range of it, with the revision of the whole. Replacing the file meanwhile does no harm, the old
 * one stays open; a program that writes into it does: then it fails with CONFLICT rather than send a mixture.
 */
export async function readFile(
  workspace: Workspace,
  params: AgentParams<'files.read'>,
  output: ReadOutput,
): Promise<AgentResult<'files.read'>> {
  const { file, stats } = await openWorkspaceFile(workspace.root, params.path)
  try {
    const size = Number(stats.size)
    if (params.maxSize !== undefined && size > params.maxSize) {
      throw new Fault('TOO_LARGE', `${params.path} has ${size} bytes`, {
        details: { limit: params.maxSize, size },
      })
    }
    const revision = await workspace.revisions.of(file, stats, output.signal)
    await checkUnchanged(file, stats, params.path)
    const entry = entryOf(params.path, stats)
    await output.opened({
      kind: 'opened',
      size,
      revision,
      modifiedAt: entry.modifiedAt,
      executable: entry.executable,
    })
    const end = Math.min(size, params.length === undefined ? size : params.offset + params.length)
    const bytes = await sendRange(file, { start: params.offset, end }, output)
    await checkUnchanged(file, stats, params.path)
    return { bytes }
  } finally {
    await file.close()
  }
}

async function sendRange(
  file: FileHandle,
  range: { start: number; end: number },
  output: ReadOutput,
): Promise<number> {
  let position = range.start
  while (position < range.end) {
    output.signal.throwIfAborted()
    // A fresh buffer each time: the frame before may still be waiting in the socket.
    const buffer = Buffer.allocUnsafe(Math.min(chunkSize, range.end - position))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
    if (bytesRead === 0) break
    await output.send(buffer.subarray(0, bytesRead))
    position += bytesRead
  }
  return Math.max(0, position - range.start)
}

async function checkUnchanged(file: FileHandle, before: BigIntStats, path: string): Promise<void> {
  const after = await file.stat({ bigint: true })
  // Removing or replacing the name changes only the link count and ctime of the open file, not its content.
  if (after.mtimeNs === before.mtimeNs && after.size === before.size) return
  throw new Fault('CONFLICT', `${path} was written to while it was read`, {
    details: { before: versionOf(before), after: versionOf(after) },
  })
}
