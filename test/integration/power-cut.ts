import {
  closeSync,
  constants,
  cpSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import {
  DurableFileSystem,
  durableStartParameters,
} from '../../packages/server/src/platform/db/pglite-file-system.ts'

interface OpenFile {
  nfd?: number
}

interface StreamOperations {
  write(file: OpenFile, buffer: unknown, offset: number, length: number, position: number): number
  fsync(file: OpenFile): number
}

/**
 * Writes rows with the engine in `cluster`, cuts the power, and returns the ids that had been acknowledged. A power cut is
 * played in its worst form: of each file, the disk has what it held at its last fsync, and nothing of what was written
 * since. Checkpoints run in between, so that the log alone cannot make up for it.
 */
export async function runUntilPowerCut(cluster: string): Promise<number[]> {
  const disk = `${cluster}-disk`
  cpSync(cluster, disk, { recursive: true })
  const pglite = await PGlite.create({
    fs: new DurableFileSystem(cluster),
    extensions: { vector },
    startParams: durableStartParameters(PGlite.defaultStartParams),
  })
  const { filesystems } = pglite.Module.FS as unknown as {
    filesystems: { NODEFS: { stream_ops: StreamOperations } }
  }
  writeThrough(filesystems.NODEFS.stream_ops, cluster, disk)
  const acknowledged: number[] = []
  await pglite.exec('create table acknowledged (id int primary key, filler text)')
  for (let id = 1; id <= 200; id += 1) {
    await pglite.query('insert into acknowledged values ($1, $2)', [id, `${id} `.repeat(500)])
    acknowledged.push(id)
    if (id % 45 === 0) await pglite.exec('checkpoint')
  }
  // The engine is left as it is: nothing of it reaches the disk any more.
  for (const entry of readdirSync(cluster)) rmSync(join(cluster, entry), { recursive: true })
  cpSync(disk, cluster, { recursive: true })
  return acknowledged
}

/** Lets `disk` have what was written to the files of `cluster` when they are synchronised, and not before. */
function writeThrough(operations: StreamOperations, cluster: string, disk: string): void {
  const waiting = new Map<string, { position: number; length: number }[]>()
  const { write, fsync } = operations
  operations.write = (file, buffer, offset, length, position) => {
    const path = pathOf(file)
    waiting.set(path, [...(waiting.get(path) ?? []), { position, length }])
    return write(file, buffer, offset, length, position)
  }
  operations.fsync = (file) => {
    const result = fsync(file)
    const path = pathOf(file)
    for (const { position, length } of waiting.get(path) ?? []) {
      const written = Buffer.alloc(length)
      readSync(file.nfd ?? -1, written, 0, length, position)
      put(join(disk, relative(cluster, path)), written, position)
    }
    waiting.delete(path)
    return result
  }
}

function put(path: string, content: Buffer, position: number): void {
  mkdirSync(dirname(path), { recursive: true })
  const target = openSync(path, constants.O_CREAT | constants.O_WRONLY)
  writeSync(target, content, 0, content.length, position)
  closeSync(target)
}

/** Empty for a directory, which has no content to lose. */
function pathOf(file: OpenFile): string {
  return file.nfd === undefined ? '' : readlinkSync(`/proc/self/fd/${file.nfd}`)
}
