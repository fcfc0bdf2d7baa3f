/** What an archive may hold before it is refused. */
export interface ArchiveLimits {
  /** files, folders, links and everything else that it lists */
  entries: number
  /** bytes that have to be unpacked to read it */
  unpackedBytes: number
  /** bytes of one file; a larger one is unusable, the others are still read */
  fileBytes: number
}

/** A project with its tests and assets fits; a dump of a disk does not. */
export const defaultArchiveLimits: ArchiveLimits = {
  entries: 20_000,
  unpackedBytes: 500 * 1024 * 1024,
  fileBytes: 10 * 1024 * 1024,
}

/** Source text packs 3 to 10 times, a folder of empty templates perhaps 50. A bomb packs 1,000 times and more. */
export const maxPackingRatio = 100

/** Unpacked bytes below which no ratio is asked about: a small archive of blank files harms nobody. */
export const ratioFloorBytes = 10 * 1024 * 1024

/**
 * One entry in the order of the archive. `index` is the same at every reading; `name` is as the archive has it, with
 * U+FFFD where its bytes are not UTF-8.
 */
export type ArchiveEntry =
  | {
      kind: 'file'
      index: number
      name: string
      /** as announced; `read` gives no more */
      bytes: number
      /** absent where the archive does not say */
      executable?: boolean
      /** The whole content. To be called before the next entry is asked for. Throws ArchiveError where it is damaged. */
      read(): Promise<Uint8Array>
    }
  | { kind: 'directory'; index: number; name: string }
  /** `reason` completes the sentence "is left out because it …" */
  | { kind: 'unusable'; index: number; name: string; reason: string }

/** Longest name that an entry keeps, in UTF-16 units; a tar may hold names of megabytes, 20,000 times. */
const maxKeptName = 5_000

/** Cuts a name that is too long for any use, and lets go of the rest: a slice alone would keep the whole in memory. */
export function keptName(name: string): string {
  return name.length > maxKeptName ? Buffer.from(name.slice(0, maxKeptName)).toString() : name
}

/** The archive cannot be read, or only at a risk. `message` says why in words for the person who sent it. */
export class ArchiveError extends Error {
  override name = 'ArchiveError'
}

/** Throws ArchiveError where what came out of an archive is too much for what went in. */
export function refuseBomb(packedBytes: number, unpackedBytes: number): void {
  if (unpackedBytes > ratioFloorBytes && unpackedBytes > packedBytes * maxPackingRatio) {
    throw new ArchiveError(`unpacks to more than ${maxPackingRatio} times its size, as a zip bomb does`)
  }
}

export function tooManyEntries(limits: ArchiveLimits): ArchiveError {
  return new ArchiveError(`lists more than ${limits.entries} entries`)
}

export function tooManyBytes(limits: ArchiveLimits): ArchiveError {
  return new ArchiveError(`unpacks to more than ${megabytes(limits.unpackedBytes)}`)
}

/** Bytes for a person; limits are whole mebibytes. */
export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`
}

export function largerThan(limits: ArchiveLimits): string {
  return `is larger than ${megabytes(limits.fileBytes)}`
}
