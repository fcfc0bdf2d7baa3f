import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AgentFileEntry } from '@atelier/contract/agent-files'
import type { AgentParams, AgentResult } from '@atelier/contract/agent-protocol'
import { faultFrom } from '../fault.ts'
import { globMatcher } from './ignore-rules.ts'
import { revisionOf } from './manage-files.ts'
import { entryOf, lookUp } from './open-file.ts'
import { type Walked, walk } from './walk.ts'
import type { Workspace } from './workspace.ts'

/** Bytes of paths in one answer: with the other fields it stays under the limit of a frame's header. */
const maxPathBytes = 256 * 1024

/** Entries looked at before other work gets its turn. */
const entriesPerTurn = 200

export async function listFiles(
  workspace: Workspace,
  params: AgentParams<'files.list'>,
  signal: AbortSignal,
): Promise<AgentResult<'files.list'>> {
  const matches = params.glob === undefined ? undefined : globMatcher(params.glob)
  const entries: AgentFileEntry[] = []
  let pathBytes = 0
  let seen = 0
  let last: string | undefined
  for (const walked of walk(workspace.root, params)) {
    seen += 1
    if (seen % entriesPerTurn === 0) {
      await nextTurn()
      signal.throwIfAborted()
    }
    if (entries.length >= params.limit || pathBytes > maxPathBytes) return { entries, next: last ?? null }
    last = walked.path
    if (matches !== undefined && !matches(walked.path)) continue
    const entry = await describe(workspace, walked, params)
    if (entry === undefined) continue
    entries.push(entry)
    pathBytes += Buffer.byteLength(entry.path) + 1
  }
  return { entries, next: null }
}

/** Undefined if the entry has gone since its name was read. */
async function describe(
  workspace: Workspace,
  { parent, name, path, ignored }: Walked,
  { revisions, gitignore }: AgentParams<'files.list'>,
): Promise<AgentFileEntry | undefined> {
  const stats = lookUp(parent, name)
  if (stats === undefined) return undefined
  const entry = { ...entryOf(path, stats), ...(gitignore === 'mark' ? { ignored } : {}) }
  if (!revisions || entry.type !== 'file') return entry
  try {
    return { ...entry, revision: await revisionOf(workspace, parent, name) }
  } catch (error) {
    if (faultFrom(error).code === 'INTERNAL') throw error
    return entry
  }
}
