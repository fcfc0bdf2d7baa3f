import type { ArchiveEntry, ArchiveLimits } from './archive-entry.ts'
import type { ArchiveFormat } from './detect-archive.ts'
import { readTar } from './read-tar.ts'
import { readZip } from './read-zip.ts'

/**
 * The entries of an archive in its own order, each to be read before the next. Nothing is written anywhere and no
 * archive inside is opened. Throws ArchiveError for what cannot be read or is too much, the signal's reason when it
 * aborts, and leaves errors of the disk as they are.
 */
export function readArchive(
  format: ArchiveFormat,
  options: { path: string; limits: ArchiveLimits; signal?: AbortSignal | undefined },
): AsyncIterable<ArchiveEntry> {
  return format === 'zip' ? readZip(options) : readTar({ ...options, gzip: format === 'tar.gz' })
}
