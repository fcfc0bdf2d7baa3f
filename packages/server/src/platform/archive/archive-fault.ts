import { ArchiveError } from './archive-entry.ts'

/** What a parser or unpacker complains about is the archive's fault; a failing disk is not, and stays what it is. */
export function asArchiveError(error: unknown, entryName?: string): unknown {
  if (error instanceof ArchiveError || !(error instanceof Error)) return error
  if ((error as NodeJS.ErrnoException).syscall !== undefined) return error
  const where = entryName === undefined ? '' : ` at ${entryName}`
  return new ArchiveError(`is damaged or cut off${where}: ${error.message}`, { cause: error })
}
