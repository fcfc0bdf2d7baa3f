import { crc32 } from 'node:zlib'
import { type Entry, getFileNameLowLevel, openPromise, type ZipFile } from 'yauzl'
import {
  type ArchiveEntry,
  ArchiveError,
  type ArchiveLimits,
  keptName,
  largerThan,
  refuseBomb,
  tooManyEntries,
} from './archive-entry.ts'
import { asArchiveError } from './archive-fault.ts'

/** A local file header without its name and extra field. */
const localHeaderBytes = 30

/** Bit 11 of the general purpose flag: the name is UTF-8. */
const utf8Flag = 0x800

const stored = 0
const deflated = 8

/** Upper half of the external attributes: a Unix mode. */
const fileTypeMask = 0o170000
const fileTypes = new Map([
  [0o120000, 'is a symbolic link'],
  [0o060000, 'is a device'],
  [0o020000, 'is a device'],
  [0o010000, 'is a named pipe'],
  [0o140000, 'is a socket'],
])

/** Reads a zip by its central directory, which is checked as a whole before the first entry is given. */
export async function* readZip(options: {
  path: string
  limits: ArchiveLimits
  signal?: AbortSignal | undefined
}): AsyncGenerator<ArchiveEntry> {
  const { limits, signal } = options
  const zip = await damaged(() => openPromise(options.path, { autoClose: false, decodeStrings: false }))
  try {
    if (zip.entryCount > limits.entries) throw tooManyEntries(limits)
    const entries = await listEntries(zip, limits)
    refuseOverlaps(zip, entries)
    refuseBomb(
      zip.fileSize,
      entries.reduce((sum, entry) => sum + entry.uncompressedSize, 0),
    )
    for (const [index, entry] of entries.entries()) {
      signal?.throwIfAborted()
      yield describe(zip, entry, index, limits)
    }
  } finally {
    zip.close()
  }
}

async function listEntries(zip: ZipFile, limits: ArchiveLimits): Promise<Entry[]> {
  const entries: Entry[] = []
  await damaged(async () => {
    for await (const entry of zip.eachEntry()) {
      if (entries.length >= limits.entries) throw tooManyEntries(limits)
      entries.push(entry)
    }
  })
  return entries
}

/**
 * Several entries over the same packed bytes make a bomb without any nesting
 * (https://www.bamsoftware.com/hacks/zipbomb/). The extra field of a local header is not known here, so each range is
 * at most as long as in truth: an honest archive always passes.
 */
function refuseOverlaps(zip: ZipFile, entries: readonly Entry[]): void {
  const ranges = entries
    .map((entry) => ({
      start: entry.relativeOffsetOfLocalHeader,
      end: entry.relativeOffsetOfLocalHeader + localHeaderBytes + entry.fileNameLength + entry.compressedSize,
    }))
    .sort((one, other) => one.start - other.start)
  for (const [index, { end }] of ranges.entries()) {
    const next = ranges[index + 1]?.start ?? zip.fileSize
    if (end > next) throw new ArchiveError('is damaged: its entries overlap or reach past its end')
  }
}

function describe(zip: ZipFile, entry: Entry, index: number, limits: ArchiveLimits): ArchiveEntry {
  const name = keptName(nameOf(entry))
  const unusable = unusableReason(entry, limits)
  if (unusable !== undefined) return { kind: 'unusable', index, name, reason: unusable }
  if (name.endsWith('/')) return { kind: 'directory', index, name }
  const bytes = entry.uncompressedSize
  // A maker without Unix permissions leaves them 0.
  const mode = entry.externalFileAttributes >>> 16
  const permissions = mode === 0 ? {} : { executable: (mode & 0o100) !== 0 }
  return { kind: 'file', index, name, bytes, ...permissions, read: () => readContent(zip, entry, name) }
}

/**
 * Tools of our days write UTF-8, with or without the flag; those that do not add the UTF-8 name as an extra field.
 * A backslash is a separator: only tools that break the format (APPNOTE 4.4.17.1) write one.
 */
function nameOf(entry: Entry): string {
  return getFileNameLowLevel(
    entry.generalPurposeBitFlag | utf8Flag,
    entry.fileNameRaw,
    entry.extraFields,
    false,
  )
}

function unusableReason(entry: Entry, limits: ArchiveLimits): string | undefined {
  const type = fileTypes.get((entry.externalFileAttributes >>> 16) & fileTypeMask)
  if (type !== undefined) return type
  if (entry.isEncrypted()) return 'is encrypted'
  const { compressionMethod } = entry
  if (compressionMethod !== stored && compressionMethod !== deflated) {
    return `is packed by method ${compressionMethod}; only stored and deflated entries are read`
  }
  return entry.uncompressedSize > limits.fileBytes ? largerThan(limits) : undefined
}

async function readContent(zip: ZipFile, entry: Entry, name: string): Promise<Uint8Array> {
  const content = await damaged(async () => {
    const chunks: Buffer[] = []
    // The stream itself fails at the first byte more, or the last byte less, than announced.
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk)
    return Buffer.concat(chunks)
  }, name)
  if (crc32(content) !== entry.crc32) throw new ArchiveError(`is damaged: the checksum of ${name} is wrong`)
  return content
}

async function damaged<T>(work: () => Promise<T>, entryName?: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asArchiveError(error, entryName)
  }
}
