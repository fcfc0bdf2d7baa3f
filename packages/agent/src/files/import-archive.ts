import { spawn } from 'node:child_process'
import { constants, createReadStream, mkdirSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { isWorkspacePath } from '@atelier/contract/agent-files'
import type { AgentParams, AgentResult } from '@atelier/contract/agent-protocol'
import { Fault } from '../fault.ts'
import { type ArchiveEntry, tarEntries, zipEntries } from './archive-entries.ts'
import { type DirectoryHandle, ensureDirectory, openDirectory, splitPath } from './directory-handle.ts'
import { planMerge } from './merge-plan.ts'
import { walk, wholeTree } from './walk.ts'
import type { Workspace } from './workspace.ts'

type Params = AgentParams<'files.import'>
type Result = AgentResult<'files.import'>

/** The ratio is looked at once this much has been unpacked: small archives compress as they like. */
const ratioFloor = 10 * 1024 * 1024

const skippedShown = 100

/**
 * Unpacks regular files and directories beside the workspace, then renames them in: all or nothing. Links and devices
 * are left out and named. Throws INVALID for a path that leads out or a damaged archive, TOO_LARGE for a cap,
 * CONFLICT with `details.paths` for files that are there when `existing` is `refuse`.
 */
export async function importArchive(
  workspace: Workspace,
  params: Params,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Result> {
  const packed = await workspace.stage.content(body, { maxBytes: params.caps.totalBytes, signal })
  const unpacked = workspace.stage.freshName()
  try {
    mkdirSync(workspace.stage.directory().at(unpacked))
    using target = workspace.stage.directory().open(unpacked)
    const result = await unpackInto(target, entriesOf(workspace, params, packed.name), {
      caps: params.caps,
      packedBytes: packed.size,
      signal,
    })
    await syncTree(target)
    await workspace.locks.all(() => mergeIn(workspace, params, { unpacked, target }))
    return result
  } finally {
    await workspace.stage.discard(packed.name)
    await workspace.stage.discard(unpacked)
  }
}

async function* entriesOf(
  workspace: Workspace,
  params: Params,
  packed: string,
): AsyncGenerator<ArchiveEntry> {
  const path = workspace.stage.directory().at(packed)
  if (params.format === 'tar.gz') {
    yield* tarEntries(
      createReadStream(path, { fd: openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW) }),
    )
    return
  }
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    yield* zipEntries(file)
  } finally {
    await file.close()
  }
}

interface UnpackOptions {
  caps: Params['caps']
  packedBytes: number
  signal: AbortSignal
}

async function unpackInto(
  target: DirectoryHandle,
  entries: AsyncIterable<ArchiveEntry>,
  options: UnpackOptions,
): Promise<Result> {
  const result: Result = { files: 0, directories: 0, bytes: 0, skipped: [] }
  const spend = (bytes: number) => {
    result.bytes += bytes
    checkCaps(result, options)
  }
  let count = 0
  for await (const entry of entries) {
    options.signal.throwIfAborted()
    count += 1
    if (count > options.caps.entries) throw overCap('entries', options.caps.entries)
    const path = safePath(entry.name)
    if (entry.kind === 'other') {
      if (result.skipped.length < skippedShown) {
        result.skipped.push({ name: path.slice(0, 300), reason: 'neither a regular file nor a directory' })
      }
    } else if (entry.kind === 'directory') {
      ensureDirectory(target, path)[Symbol.dispose]()
      if (path !== '') result.directories += 1
    } else {
      await unpackFile(target, { ...entry, name: path }, spend)
      result.files += 1
    }
  }
  return result
}

/** The entry's path in the workspace; `./` in front and `/` behind are usual. */
function safePath(name: string): string {
  const path = name.replace(/^(\.\/)+/, '').replace(/\/+$/, '')
  const trimmed = path === '.' ? '' : path
  if (!isWorkspacePath(trimmed))
    throw new Fault('INVALID', `the archive holds a path that is refused: ${name.slice(0, 200)}`)
  return trimmed
}

async function unpackFile(
  target: DirectoryHandle,
  entry: ArchiveEntry,
  spend: (bytes: number) => void,
): Promise<void> {
  const { parent, name } = splitPath(entry.name)
  if (name === '') throw new Fault('INVALID', 'the archive holds a file without a name')
  using directory = ensureDirectory(target, parent)
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW
  const file = await open(directory.at(name), flags, entry.executable ? 0o755 : 0o644)
  try {
    for await (const chunk of entry.content) {
      spend(chunk.length)
      for (let done = 0; done < chunk.length; ) done += (await file.write(chunk, done)).bytesWritten
    }
  } finally {
    await file.close()
  }
}

function checkCaps(result: Result, { caps, packedBytes }: UnpackOptions): void {
  if (result.bytes > caps.totalBytes) throw overCap('totalBytes', caps.totalBytes)
  if (result.bytes > ratioFloor && result.bytes > packedBytes * caps.ratio) throw overCap('ratio', caps.ratio)
}

function overCap(cap: string, limit: number): Fault {
  return new Fault('TOO_LARGE', `the archive is over its cap: ${cap} ${limit}`, { details: { cap, limit } })
}

async function mergeIn(
  workspace: Workspace,
  params: Params,
  { unpacked, target }: { unpacked: string; target: DirectoryHandle },
): Promise<void> {
  workspace.fence.check()
  if (params.path !== '') ensureDirectory(workspace.root, params.path)[Symbol.dispose]()
  using into = openDirectory(workspace.root, params.path)
  const plan = planMerge(target, into, {
    staged: unpacked,
    path: params.path,
    freshName: workspace.stage.freshName,
  })
  if (params.existing === 'refuse' && plan.replaced.length > 0) {
    throw new Fault('CONFLICT', `${plan.replaced.length} files are there already`, {
      details: { paths: plan.replaced.slice(0, 20) },
    })
  }
  workspace.journal.run(plan.steps)
  for (const name of plan.backups) await workspace.stage.discard(name)
}

/** Makes everything unpacked durable: one syncfs of the file system beats one fsync a file by far. */
async function syncTree(directory: DirectoryHandle): Promise<void> {
  const child = spawn('sync', ['--file-system', '.'], { cwd: directory.at(), stdio: 'ignore' })
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
  if (exitCode === 0) return
  // Machines whose `sync` knows no file systems.
  for (const { parent, name, isDirectory } of walk(directory, { ...wholeTree, gitignore: 'show' })) {
    const file = await open(parent.at(isDirectory ? `${name}/.` : name), constants.O_RDONLY)
    await file.sync().finally(() => file.close())
  }
  directory.sync()
}
