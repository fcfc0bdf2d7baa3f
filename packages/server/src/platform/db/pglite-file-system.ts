import { closeSync, fsyncSync, openSync } from 'node:fs'
import type { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

type EmscriptenOptions = Awaited<ReturnType<NodeFS['init']>>['emscriptenOpts']

/** The part of Emscripten's file system for Node that we complete; it is not in the published types. */
interface NodeFileSystem {
  realPath(node: unknown): string
  stream_ops: { fsync?: (stream: OpenFile) => number }
}

interface OpenFile {
  node: unknown
  /** Node's file descriptor; a directory has none */
  nfd?: number
}

/**
 * The engine's file system, with an `fsync` that reaches the disk. The engine's own ignores it; the server needs it in the
 * places where PostgreSQL calls it, or a power cut tears what it has acknowledged.
 */
export class DurableFileSystem extends NodeFS {
  override async init(pglite: PGlite, options: EmscriptenOptions): ReturnType<NodeFS['init']> {
    const result = await super.init(pglite, options)
    result.emscriptenOpts.preRun?.push((module) => {
      const { filesystems } = module.FS as unknown as { filesystems: { NODEFS: NodeFileSystem } }
      const nodefs = filesystems.NODEFS
      nodefs.stream_ops.fsync = (file) => synchronize(nodefs, file)
    })
    return result
  }
}

/** The settings that make the server call it; PGlite starts with `-F`, which is `fsync=off`. */
export function durableStartParameters(defaults: readonly string[]): string[] {
  // Not fdatasync, PostgreSQL's choice on Linux: Emscripten answers that call itself.
  return [
    ...defaults.filter((parameter) => parameter !== '-F'),
    '-c',
    'fsync=on',
    '-c',
    'wal_sync_method=fsync',
  ]
}

/** `EIO` as WASI numbers it. */
const inputOutputError = 29

/** Zero, or an error number: the server then stops, as after a crash, rather than believe in what may not be there. */
function synchronize(nodefs: NodeFileSystem, file: OpenFile): number {
  try {
    if (file.nfd !== undefined && file.nfd !== null) fsyncSync(file.nfd)
    else synchronizeDirectory(nodefs.realPath(file.node))
    return 0
  } catch {
    return inputOutputError
  }
}

function synchronizeDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
