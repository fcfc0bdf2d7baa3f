import { chmodSync } from 'node:fs'
import {
  type BatchOperation,
  fileLimits,
  type WriteBase,
  type WrittenFile,
} from '@atelier/contract/agent-files'
import type { AgentParams, AgentResult } from '@atelier/contract/agent-protocol'
import { Fault, faultFrom } from '../fault.ts'
import { openDirectory, splitPath } from './directory-handle.ts'
import { entryOf, lookUp } from './open-file.ts'
import { splitContents } from './split-contents.ts'
import type { StagedFile } from './stage.ts'
import type { Step } from './steps.ts'
import type { Workspace } from './workspace.ts'
import { type Current, checkBase, currentFor, isStill, modeFor } from './write-file.ts'

type Write = Extract<BatchOperation, { op: 'write' }>

/** What a batch will do: its steps, and what must not have changed when they are done. */
interface Plan {
  steps: Step[]
  expected: { path: string; current: Current | undefined }[]
  modes: { name: string; mode: number }[]
  written: WrittenFile[]
}

/**
 * Does all operations or none. Contents are staged first; then, alone in the workspace, everything is checked, written
 * to the journal and done. A crash is finished or undone at the next start.
 */
export async function runBatch(
  workspace: Workspace,
  { operations }: AgentParams<'files.batch'>,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<AgentResult<'files.batch'>> {
  checkDisjoint(operations)
  const writes = operations.filter((operation) => operation.op === 'write')
  const total = writes.reduce((sum, write) => sum + write.bytes, 0)
  if (total > fileLimits.batchBytes)
    throw new Fault('TOO_LARGE', 'the batch is too large', { details: { limit: fileLimits.batchBytes } })
  const staged: StagedFile[] = []
  try {
    for await (const content of splitContents(
      body,
      writes.map((write) => write.bytes),
    )) {
      staged.push(await workspace.stage.content(content, { maxBytes: fileLimits.batchBytes, signal }))
    }
    return await workspace.locks.all(async () => {
      const plan = await makePlan(workspace, operations, staged)
      try {
        carryOut(workspace, plan)
      } finally {
        await discardBackups(workspace, plan.steps)
      }
      return { written: plan.written.map((file) => withTime(workspace, file)) }
    })
  } finally {
    for (const file of staged) await workspace.stage.discard(file.name)
  }
}

/** From the last look at the disk to the last rename nothing else of this process runs. */
function carryOut(workspace: Workspace, plan: Plan): void {
  workspace.fence.check()
  for (const { name, mode } of plan.modes) chmodSync(workspace.stage.directory().at(name), mode)
  for (const { path, current } of plan.expected) {
    if (isStill(current, find(workspace, path))) continue
    throw new Fault('CONFLICT', `${path} has changed meanwhile`, { details: { path } })
  }
  workspace.journal.run(plan.steps)
}

async function discardBackups(workspace: Workspace, steps: Step[]): Promise<void> {
  for (const step of steps) {
    if ((step.kind === 'place' || step.kind === 'remove') && step.backup !== null)
      await workspace.stage.discard(step.backup)
  }
}

async function makePlan(
  workspace: Workspace,
  operations: BatchOperation[],
  staged: StagedFile[],
): Promise<Plan> {
  const plan: Plan = { steps: [], expected: [], modes: [], written: [] }
  const waiting = [...staged]
  const made = new Set<string>()
  for (const operation of operations) {
    if (operation.op === 'write')
      await planWrite(workspace, plan, { operation, staged: waiting.shift(), made })
    else if (operation.op === 'delete') await planDelete(workspace, plan, operation)
    else if (operation.op === 'mkdir') planMkdir(workspace, plan, { operation, made })
    else planMove(workspace, plan, { operation, made })
  }
  return plan
}

async function planWrite(
  workspace: Workspace,
  plan: Plan,
  { operation, staged, made }: { operation: Write; staged: StagedFile | undefined; made: Set<string> },
): Promise<void> {
  if (staged === undefined) throw new Fault('INVALID', 'the upload is shorter than the batch says')
  const { parent } = splitPath(operation.path)
  planDirectory(workspace, plan, { path: parent, made })
  const current = made.has(parent) ? undefined : await currentAt(workspace, operation.path, operation.base)
  checkBase(operation.base, current, operation.path)
  plan.expected.push({ path: operation.path, current })
  plan.modes.push({ name: staged.name, mode: modeFor(current, operation.executable) })
  const backup = current === undefined ? null : workspace.stage.freshName()
  plan.steps.push({ kind: 'place', staged: staged.name, path: operation.path, backup })
  const { revision, size } = staged
  plan.written.push({ path: operation.path, revision, size, modifiedAt: 0, created: current === undefined })
}

async function currentAt(workspace: Workspace, path: string, base: WriteBase): Promise<Current | undefined> {
  const { parent, name } = splitPath(path)
  using directory = openDirectory(workspace.root, parent)
  return await currentFor(base, workspace, directory, name)
}

async function planDelete(
  workspace: Workspace,
  plan: Plan,
  operation: Extract<BatchOperation, { op: 'delete' }>,
): Promise<void> {
  const stats = find(workspace, operation.path)
  if (stats === undefined) throw new Fault('NOT_FOUND', `${operation.path} is not there`)
  if (operation.base !== undefined && stats.isFile()) {
    const current = await currentAt(workspace, operation.path, operation.base)
    checkBase(operation.base, current, operation.path)
    plan.expected.push({ path: operation.path, current })
  }
  plan.steps.push({ kind: 'remove', path: operation.path, backup: workspace.stage.freshName() })
}

function planMove(
  workspace: Workspace,
  plan: Plan,
  { operation, made }: { operation: Extract<BatchOperation, { op: 'move' }>; made: Set<string> },
): void {
  if (find(workspace, operation.from) === undefined)
    throw new Fault('NOT_FOUND', `${operation.from} is not there`)
  planDirectory(workspace, plan, { path: splitPath(operation.to).parent, made })
  if (find(workspace, operation.to) !== undefined) {
    throw new Fault('CONFLICT', `${operation.to} is there already`, { details: { path: operation.to } })
  }
  plan.steps.push({ kind: 'move', from: operation.from, to: operation.to })
}

function planMkdir(
  workspace: Workspace,
  plan: Plan,
  { operation, made }: { operation: Extract<BatchOperation, { op: 'mkdir' }>; made: Set<string> },
): void {
  const { path, exclusive } = operation
  if (exclusive === true && find(workspace, path) !== undefined)
    throw new Fault('CONFLICT', `${path} is there already`, { details: { path } })
  planDirectory(workspace, plan, { path, made })
}

/** Steps for the directories that are missing on the way to `path`, `path` included. */
function planDirectory(
  workspace: Workspace,
  plan: Plan,
  { path, made }: { path: string; made: Set<string> },
): void {
  if (path === '' || made.has(path)) return
  const stats = find(workspace, path)
  if (stats?.isDirectory() === true) return
  if (stats !== undefined)
    throw new Fault(stats.isSymbolicLink() ? 'LINK_REFUSED' : 'CONFLICT', `${path} is not a directory`)
  planDirectory(workspace, plan, { path: splitPath(path).parent, made })
  made.add(path)
  plan.steps.push({ kind: 'mkdir', path })
}

/** What is at a path; undefined if nothing is, or if its directory is not there. */
function find(workspace: Workspace, path: string) {
  const { parent, name } = splitPath(path)
  try {
    using directory = openDirectory(workspace.root, parent)
    return lookUp(directory, name)
  } catch (error) {
    if (faultFrom(error).code === 'NOT_FOUND') return undefined
    throw error
  }
}

function withTime(workspace: Workspace, file: WrittenFile): WrittenFile {
  const stats = find(workspace, file.path)
  return stats === undefined
    ? { ...file, modifiedAt: Date.now() }
    : { ...file, modifiedAt: entryOf(file.path, stats).modifiedAt }
}

/** Operations may not touch one another's paths, so that their order does not matter and all can be checked first. */
function checkDisjoint(operations: BatchOperation[]): void {
  const touched = operations.flatMap((operation) => {
    if (operation.op === 'mkdir') return []
    return operation.op === 'move' ? [operation.from, operation.to] : [operation.path]
  })
  const seen = new Set(touched)
  const twice = seen.size !== touched.length
  const inside = touched.find((path) => ancestorsOf(path).some((ancestor) => seen.has(ancestor)))
  if (twice || inside !== undefined)
    throw new Fault('INVALID', `operations overlap${inside === undefined ? '' : ` at ${inside}`}`)
}

function ancestorsOf(path: string): string[] {
  const names = path.split('/')
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'))
}
