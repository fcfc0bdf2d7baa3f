import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32, createGunzip } from 'node:zlib'
import { Fault } from '../fault.ts'

/** One entry of an archive, whatever the format; `content` must be read before the next entry is asked for. */
export interface ArchiveEntry {
  name: string
  /** links, devices and the like are `other` */
  kind: 'file' | 'directory' | 'other'
  executable: boolean
  content: AsyncIterable<Uint8Array>
}

// The archive libraries are loaded when first used: most workspaces never unpack anything.

export async function* tarEntries(packed: Readable): AsyncGenerator<ArchiveEntry> {
  const { extract } = await import('tar-stream')
  const unpack = extract()
  // A failure also destroys `unpack`, so the loop below throws it; this promise only must not go unheard.
  const piped = pipeline(packed, createGunzip(), unpack)
  piped.catch(() => undefined)
  try {
    for await (const entry of unpack) {
      const { name, type, mode } = entry.header
      const kind =
        type === 'directory' ? 'directory' : type === 'file' || type === 'contiguous-file' ? 'file' : 'other'
      yield { name, kind, executable: ((mode ?? 0) & 0o100) !== 0, content: refusing(bytesOf(entry)) }
      entry.resume()
    }
    await piped
  } catch (error) {
    throw unreadable(error)
  } finally {
    unpack.destroy()
  }
}

/** Upper half of a zip entry's external attributes: Unix file type and permissions, 0 where the maker had none. */
const typeMask = 0o170000
const regularFile = 0o100000
const directory = 0o040000

export async function* zipEntries(file: FileHandle): AsyncGenerator<ArchiveEntry> {
  const yauzl = await import('yauzl')
  const zip = await yauzl.fromFdPromise(file.fd, { autoClose: false }).catch((error: unknown) => {
    throw unreadable(error)
  })
  try {
    for await (const entry of zip.eachEntry()) {
      const mode = entry.externalFileAttributes >>> 16
      const type = mode & typeMask
      const named = entry.fileName.endsWith('/') || type === directory
      const kind = named ? 'directory' : type === 0 || type === regularFile ? 'file' : 'other'
      const open = () => zip.openReadStreamPromise(entry)
      yield {
        name: entry.fileName,
        kind,
        executable: (mode & 0o100) !== 0,
        content: checkedContent(open, entry.crc32),
      }
    }
  } catch (error) {
    throw unreadable(error)
  }
}

async function* checkedContent(open: () => Promise<Readable>, expected: number): AsyncGenerator<Buffer> {
  let sum = 0
  for await (const chunk of bytesOf(await open())) {
    sum = crc32(chunk, sum)
    yield chunk
  }
  if (sum !== expected) throw new Fault('INVALID', 'the archive is damaged: a checksum does not match')
}

/** The libraries type their chunks as anything. */
export async function* bytesOf(stream: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('a stream of bytes delivered something else')
    yield chunk
  }
}

/** Damage shows where content is read, which is the caller's loop, not ours. */
async function* refusing(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* content
  } catch (error) {
    throw unreadable(error)
  }
}

function unreadable(error: unknown): Fault {
  if (error instanceof Fault) return error
  const message = error instanceof Error ? error.message : 'unknown'
  return new Fault('INVALID', `the archive cannot be read: ${message}`, { cause: error })
}
