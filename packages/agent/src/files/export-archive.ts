import type { BigIntStats } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { AgentParams, AgentResult } from '@atelier/contract/agent-protocol'
import { Fault } from '../fault.ts'
import { bytesOf } from './archive-entries.ts'
import { lookUp, openWorkspaceFile } from './open-file.ts'
import { walk, wholeTree } from './walk.ts'
import type { Workspace } from './workspace.ts'

type Params = AgentParams<'files.export'>
type Result = AgentResult<'files.export'>

export interface ExportOutput {
  signal: AbortSignal
  send(bytes: Uint8Array): Promise<void>
}

interface Packed {
  /** path in the archive, below the exported directory */
  name: string
  path: string
  stats: BigIntStats
}

const skippedShown = 100

/** Packs regular files and directories; links and the like are left out and named. Throws TOO_LARGE above `maxBytes`. */
export async function exportArchive(
  workspace: Workspace,
  params: Params,
  output: ExportOutput,
): Promise<Result> {
  const result: Result = { files: 0, directories: 0, bytes: 0, skipped: [] }
  const entries = entriesOf(workspace, params, result)
  const stream =
    params.format === 'zip'
      ? await zipStream(workspace, entries)
      : await tarStream(workspace, entries, output.signal)
  try {
    for await (const chunk of bytesOf(stream)) {
      output.signal.throwIfAborted()
      await output.send(chunk)
    }
  } finally {
    stream.destroy()
  }
  return result
}

function* entriesOf(workspace: Workspace, params: Params, result: Result): Generator<Packed> {
  const prefix = params.path === '' ? 0 : params.path.length + 1
  for (const { path, name, parent } of walk(workspace.root, {
    ...wholeTree,
    path: params.path,
    gitignore: params.gitignore ? 'hide' : 'show',
  })) {
    const stats = lookUp(parent, name)
    if (stats === undefined) continue
    if (stats.isDirectory()) result.directories += 1
    else if (!stats.isFile()) {
      if (result.skipped.length < skippedShown) {
        result.skipped.push({ name: path.slice(0, 300), reason: 'neither a regular file nor a directory' })
      }
      continue
    } else {
      result.files += 1
      result.bytes += Number(stats.size)
      if (result.bytes > params.maxBytes) {
        throw new Fault('TOO_LARGE', `the files have more than ${params.maxBytes} bytes`, {
          details: { limit: params.maxBytes },
        })
      }
    }
    yield { name: path.slice(prefix), path, stats }
  }
}

async function tarStream(
  workspace: Workspace,
  entries: Iterable<Packed>,
  signal: AbortSignal,
): Promise<Readable> {
  const { pack } = await import('tar-stream')
  const archive = pack()
  const gzip = createGzip()
  pipeline(archive, gzip, { signal }).catch((error: unknown) => gzip.destroy(asError(error)))
  fillTar(workspace, archive, entries).catch((error: unknown) => archive.destroy(asError(error)))
  return gzip
}

async function fillTar(
  workspace: Workspace,
  archive: import('tar-stream').Pack,
  entries: Iterable<Packed>,
): Promise<void> {
  for (const { name, path, stats } of entries) {
    const mode = (stats.mode & 0o100n) !== 0n ? 0o755 : 0o644
    const mtime = new Date(Number(stats.mtimeMs))
    if (stats.isDirectory()) {
      archive.entry({ name: `${name}/`, type: 'directory', mode: 0o755, mtime })
      continue
    }
    const size = Number(stats.size)
    const entry = archive.entry({ name, size, mode, mtime })
    await pipeline(Readable.from(exactly(workspace, path, size)), entry)
  }
  archive.finalize()
}

/** A tar names the size before the content, so a file that shrinks meanwhile cannot be packed. */
async function* exactly(workspace: Workspace, path: string, size: number): AsyncGenerator<Uint8Array> {
  let sent = 0
  for await (const chunk of contentOf(workspace, path)) {
    const part = chunk.subarray(0, size - sent)
    sent += part.length
    if (part.length > 0) yield part
    if (sent === size) return
  }
  if (sent < size) throw new Fault('CONFLICT', `${path} became shorter while it was packed`)
}

async function zipStream(workspace: Workspace, entries: Iterable<Packed>): Promise<Readable> {
  const { ZipFile } = await import('yazl')
  const archive = new ZipFile()
  const output = archive.outputStream
  if (!(output instanceof Readable)) throw new TypeError('the zip library has no stream')
  archive.on('error', (error: unknown) => output.destroy(asError(error)))
  for (const { name, path, stats } of entries) {
    const mtime = new Date(Number(stats.mtimeMs))
    if (stats.isDirectory()) {
      archive.addEmptyDirectory(name, { mtime, mode: 0o40755 })
      continue
    }
    const mode = (stats.mode & 0o100n) !== 0n ? 0o100755 : 0o100644
    archive.addReadStreamLazy(name, { mtime, mode }, (give) => {
      const content = Readable.from(contentOf(workspace, path))
      content.once('error', (error) => output.destroy(error))
      give(null, content)
    })
  }
  archive.end()
  return output
}

async function* contentOf(workspace: Workspace, path: string): AsyncGenerator<Uint8Array> {
  const { file } = await openWorkspaceFile(workspace.root, path)
  try {
    yield* bytesOf(file.createReadStream({ autoClose: false }))
  } finally {
    await file.close()
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
