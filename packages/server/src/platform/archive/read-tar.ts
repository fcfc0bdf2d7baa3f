import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { PassThrough, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type Extract, extract, type Header } from 'tar-stream'
import {
  type ArchiveEntry,
  ArchiveError,
  type ArchiveLimits,
  keptName,
  largerThan,
  refuseBomb,
  tooManyBytes,
  tooManyEntries,
} from './archive-entry.ts'
import { asArchiveError } from './archive-fault.ts'

type Entry = Extract extends AsyncIterable<infer Source> ? Source : never

/** Old archives have no magic in their headers; the checksum proves them all the same. */
const extractOptions: Parameters<typeof extract>[0] & { allowUnknownFormat: boolean } = {
  allowUnknownFormat: true,
}

const linkTypes: Partial<Record<Header['type'], string>> = {
  symlink: 'is a symbolic link',
  link: 'is a hard link',
  'character-device': 'is a device',
  'block-device': 'is a device',
  fifo: 'is a named pipe',
}

/** Reads a tar, packed or not, in one pass; stops at the first byte beyond a limit, so that a bomb is never unpacked. */
export async function* readTar(options: {
  path: string
  gzip: boolean
  limits: ArchiveLimits
  signal?: AbortSignal | undefined
}): AsyncGenerator<ArchiveEntry> {
  const { path, limits, signal } = options
  const packedBytes = (await stat(path)).size
  const entries = extract(extractOptions)
  const pumped = pipeline(
    createReadStream(path),
    options.gzip ? createGunzip() : new PassThrough(),
    countBytes(limits, packedBytes),
    entries,
    { signal },
  )
  // A failure also ends the iteration below, which is where it is reported.
  pumped.catch(() => {})
  try {
    let index = 0
    for await (const entry of entries) {
      if (index >= limits.entries) throw tooManyEntries(limits)
      yield describe(entry, index, limits)
      entry.resume()
      index += 1
    }
    await pumped
  } catch (error) {
    signal?.throwIfAborted()
    throw asArchiveError(error)
  } finally {
    entries.destroy()
  }
}

function countBytes(limits: ArchiveLimits, packedBytes: number): Transform {
  let unpacked = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      unpacked += chunk.length
      try {
        refuseBomb(packedBytes, unpacked)
        if (unpacked > limits.unpackedBytes) throw tooManyBytes(limits)
        done(null, chunk)
      } catch (error) {
        done(error as Error)
      }
    },
  })
}

function describe(entry: Entry, index: number, limits: ArchiveLimits): ArchiveEntry {
  const { type, size: bytes } = entry.header
  const name = keptName(entry.header.name)
  if (type === 'directory') return { kind: 'directory', index, name }
  const reason = unusableReason(entry.header, limits)
  if (reason !== undefined) return { kind: 'unusable', index, name, reason }
  const executable = ((entry.header.mode ?? 0) & 0o100) !== 0
  return { kind: 'file', index, name, bytes, executable, read: () => readContent(entry, name) }
}

function unusableReason(header: Header, limits: ArchiveLimits): string | undefined {
  const { type, size } = header
  if (type !== 'file' && type !== 'contiguous-file') {
    return linkTypes[type] ?? 'is neither a file nor a folder'
  }
  if (isSparse(header)) return 'is a sparse file'
  return size > limits.fileBytes ? largerThan(limits) : undefined
}

/** PAX announces a sparse file in records of its own; its content is not what the file would be. */
function isSparse({ pax }: Header): boolean {
  return Object.keys(pax ?? {}).some((key) => key.startsWith('GNU.sparse.'))
}

async function readContent(entry: Entry, name: string): Promise<Uint8Array> {
  try {
    const chunks: Buffer[] = []
    for await (const chunk of entry as AsyncIterable<Buffer>) chunks.push(chunk)
    return Buffer.concat(chunks)
  } catch (error) {
    throw error instanceof ArchiveError ? error : asArchiveError(error, name)
  }
}
