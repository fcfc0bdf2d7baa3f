import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, invalidField } from '../../base/app-error.ts'
import { ArchiveError, defaultArchiveLimits, largerThan } from './archive-entry.ts'
import { type ArchiveFormat, detectArchive } from './detect-archive.ts'
import type { ImportPlan, SourceEntry } from './import-plan.ts'
import { readArchive } from './read-archive.ts'

/** A part of a form, on disk. */
export interface ReceivedFile {
  /** as the client names it, not yet checked */
  name: string
  path: string
  bytes: number
}

/** One archive, or the parts as they are. */
export type SourceFormat = ArchiveFormat | 'files'

/** A file that is handed on, under its path in the workspace. */
export interface SourceFile {
  path: string
  bytes: Uint8Array
  /** absent: not known */
  executable?: boolean
}

/**
 * Lists what was sent without keeping any of it: the entries of one archive, or the parts of a form. Throws
 * VALIDATION_ERROR on `files` for an archive that cannot be read or is too much.
 */
export async function inspectSource(
  files: readonly ReceivedFile[],
  signal: AbortSignal,
): Promise<{ format: SourceFormat; entries: SourceEntry[] }> {
  const [only, ...others] = files
  if (!only || others.length > 0) return { format: 'files', entries: files.map(toSourceEntry) }
  const detected = await detectArchive(only.path, only.name)
  if (detected.kind === 'ordinary') return { format: 'files', entries: files.map(toSourceEntry) }
  if (detected.kind === 'broken')
    throw invalidField('files', 'is named like an archive, but is damaged or none')
  if (detected.kind === 'unsupported') {
    throw invalidField('files', `is in the format ${detected.format}; send a .zip, .tar.gz or .tar`)
  }
  return { format: detected.format, entries: await listArchive(detected.format, only.path, signal) }
}

async function listArchive(format: ArchiveFormat, path: string, signal: AbortSignal): Promise<SourceEntry[]> {
  const entries: SourceEntry[] = []
  try {
    for await (const entry of readArchive(format, { path, limits: defaultArchiveLimits, signal })) {
      // Without the means to read it, which hold on to the archive.
      if (entry.kind !== 'file') entries.push(entry)
      else entries.push({ kind: 'file', index: entry.index, name: entry.name, bytes: entry.bytes })
    }
  } catch (error) {
    throw error instanceof ArchiveError ? invalidField('files', error.message) : error
  }
  return entries
}

export function toSourceEntry({ name, bytes }: ReceivedFile, index: number): SourceEntry {
  if (bytes <= defaultArchiveLimits.fileBytes) return { kind: 'file', index, name, bytes }
  return { kind: 'unusable', index, name, reason: largerThan(defaultArchiveLimits) }
}

/**
 * The planned files with their content, one at a time, from a directory that holds the parts by their index. Throws
 * VALIDATION_ERROR where an archive turns out to be damaged.
 */
export async function* readPlanned(options: {
  directory: string
  format: SourceFormat
  files: ImportPlan['files']
  signal: AbortSignal
}): AsyncGenerator<SourceFile> {
  const { directory, format, files, signal } = options
  if (format !== 'files') return yield* readFromArchive({ ...options, format })
  for (const { index, path } of files) {
    signal.throwIfAborted()
    yield { path, bytes: await readFile(join(directory, String(index))) }
  }
}

async function* readFromArchive(options: {
  directory: string
  format: ArchiveFormat
  files: ImportPlan['files']
  signal: AbortSignal
}): AsyncGenerator<SourceFile> {
  const { format, signal } = options
  const wanted = new Map(options.files.map(({ index, path }) => [index, path]))
  const path = join(options.directory, '0')
  let left = wanted.size
  try {
    for await (const entry of readArchive(format, { path, limits: defaultArchiveLimits, signal })) {
      const target = wanted.get(entry.index)
      if (target === undefined || entry.kind !== 'file') continue
      const { executable } = entry
      const permissions = executable === undefined ? {} : { executable }
      yield { path: target, bytes: await entry.read(), ...permissions }
      left -= 1
      if (left === 0) return
    }
  } catch (error) {
    throw error instanceof ArchiveError
      ? new AppError('VALIDATION_ERROR', `The archive ${error.message}`, { cause: error })
      : error
  }
}
