import { randomUUID } from 'node:crypto'
import { cpSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DataDirectoryError } from './data-directory-error.ts'

/** PostgreSQL's own data directory, inside ours. */
const clusterName = 'cluster'
/** Says that a cluster was made here, so that a lost one is not taken for a first start. */
const markerName = 'database.json'
/** Major version of the PostgreSQL in `@electric-sql/pglite`; PG_VERSION of a cluster must equal it. */
export const clusterVersion = '18'

/** Size of a new cluster, log included. */
const clusterMegabytes = 40

/** Where the cluster of a data directory is. */
export function clusterDirectoryOf(dataDirectory: string): string {
  return join(dataDirectory, clusterName)
}

/**
 * Whether the directory holds a cluster that this build can open; false only where none was ever made. Throws
 * DataDirectoryError for one that is missing, incomplete or of another version, rather than let an empty one replace it.
 */
export async function hasCluster(dataDirectory: string): Promise<boolean> {
  const cluster = clusterDirectoryOf(dataDirectory)
  const version = await readOptional(join(cluster, 'PG_VERSION'))
  const made = await readOptional(join(dataDirectory, markerName))
  const files = await listOptional(cluster)
  if (version === undefined && made === undefined && files === undefined) return false
  if (version === undefined) {
    const state = files === undefined ? 'is gone' : 'is incomplete (PG_VERSION is missing)'
    throw new DataDirectoryError(
      `The database in ${cluster} ${state}. Restore ${dataDirectory} from a backup, or move it away to start with an empty database.`,
    )
  }
  if (version.trim() !== clusterVersion) {
    throw new DataDirectoryError(
      `The database in ${cluster} was made by PostgreSQL ${version.trim()}, this version of Atelier has ${clusterVersion}. Run the version that made it.`,
    )
  }
  return true
}

/**
 * Puts a new cluster in place, made by `make` in a directory of its own first, so that a start that was interrupted
 * leaves no half of one.
 */
export async function placeCluster(
  { dataDirectory, durable }: { dataDirectory: string; durable: boolean },
  make: (clusterDirectory: string) => Promise<void>,
): Promise<void> {
  await removeLeftovers(dataDirectory)
  const unfinished = join(dataDirectory, `unfinished-${randomUUID()}`)
  try {
    await make(unfinished)
    if (durable) await synchronizeTree(unfinished)
    await rename(unfinished, clusterDirectoryOf(dataDirectory))
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
  await markCluster(dataDirectory)
  if (durable) await synchronize(dataDirectory)
}

/** Writes the marker beside a cluster, unless it is there. */
export async function markCluster(dataDirectory: string): Promise<void> {
  const marker = join(dataDirectory, markerName)
  if ((await readOptional(marker)) !== undefined) return
  await writeFile(marker, `${JSON.stringify({ postgres: clusterVersion })}\n`)
}

/** Puts every file and directory of a tree on the disk. */
async function synchronizeTree(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true })
  for (const entry of [...entries, '.']) await synchronize(join(directory, entry))
}

async function synchronize(path: string): Promise<void> {
  await using file = await open(path, 'r')
  await file.sync()
}

/**
 * Copies a cluster that no process has open. Blocks for its thousand files, which takes half of the time that the
 * asynchronous copy would: nothing else runs before the database is there.
 */
export function copyCluster(from: string, to: string): void {
  cpSync(from, to, { recursive: true, errorOnExist: true, force: false })
}

export async function makeDataDirectory(dataDirectory: string): Promise<void> {
  try {
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new DataDirectoryError(`The database directory ${dataDirectory} cannot be made.`, { cause: error })
  }
}

/** A full disk in words, empty where the disk is not full: copying reports it as an input/output error. */
export async function describeSpace(directory: string): Promise<string> {
  const { bavail, bsize } = await statfs(directory)
  const free = Math.floor((bavail * bsize) / 1_048_576)
  return free < clusterMegabytes
    ? `: the disk has ${free} MB left, a new database takes ${clusterMegabytes}`
    : ''
}

async function removeLeftovers(dataDirectory: string): Promise<void> {
  for (const name of await readdir(dataDirectory)) {
    if (name.startsWith('unfinished-')) {
      await rm(join(dataDirectory, name), { recursive: true, force: true })
    }
  }
}

async function readOptional(file: string): Promise<string | undefined> {
  return await absentAsUndefined(() => readFile(file, 'utf8'))
}

async function listOptional(directory: string): Promise<string[] | undefined> {
  return await absentAsUndefined(() => readdir(directory))
}

async function absentAsUndefined<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
