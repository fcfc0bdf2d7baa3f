import { type AppError, invalidField } from '../../base/app-error.ts'
import { megabytes } from './archive-entry.ts'
import { entryPath, shownName } from './entry-path.ts'
import { type IgnoreReason, ignoredAt } from './import-ignored.ts'

/** What an import was sent: one row for each entry of an archive, or each part of a form. */
export type SourceEntry =
  | { kind: 'file'; index: number; name: string; bytes: number }
  | { kind: 'directory'; index: number; name: string }
  | { kind: 'unusable'; index: number; name: string; reason: string }

/** What will be done with each file, decided and checked before the import is accepted. */
export interface ImportPlan {
  /** the top folder that was dropped, `null` if none */
  root: string | null
  /** in the order of the source */
  files: { index: number; path: string; bytes: number }[]
  /** folders that are listed by themselves, and so are made even when empty */
  directories: string[]
  /** `reason` completes "is left out because it …" */
  skipped: { path: string; reason: string }[]
  ignored: { path: string; files: number; reason: IgnoreReason }[]
}

export interface PlanOptions {
  stripRoot: boolean
  /** leave out version control, installed dependencies and caches */
  ignore: boolean
  maxBytes: number
}

/**
 * Decides what is imported under which path. Throws VALIDATION_ERROR on `files` that names the entry, where a name
 * reaches out of the workspace, where a path is a file and a folder, where it is too much, or where nothing is left.
 */
export function planImport(entries: Iterable<SourceEntry>, options: PlanOptions): ImportPlan {
  const placed = placeEntries(entries)
  const root = options.stripRoot ? sharedRoot(placed) : null
  const plan: ImportPlan = { root, files: [], directories: [], skipped: [], ignored: [] }
  const ignored = new Map<string, ImportPlan['ignored'][number]>()
  const seen = new Set<string>()
  for (const entry of placed) {
    if (entry.kind === 'directory') continue
    const path =
      root !== null && entry.path.startsWith(`${root}/`) ? entry.path.slice(root.length + 1) : entry.path
    const left = options.ignore ? ignoredAt(path) : null
    if (left) countIgnored(ignored, left)
    else if (entry.kind === 'unusable') plan.skipped.push({ path, reason: entry.reason })
    else if (seen.has(path)) plan.skipped.push({ path, reason: 'is there twice; the first one counts' })
    else {
      seen.add(path)
      plan.files.push({ index: entry.index, path, bytes: entry.bytes })
    }
  }
  plan.ignored.push(...ignored.values())
  const directories = directoryPaths(placed, root)
  refuseConflicts(plan, directories)
  // An ignored folder is told by a file in it.
  plan.directories = directories.filter((path) => !options.ignore || ignoredAt(`${path}/x`) === null)
  refuseSize(plan, options.maxBytes)
  if (plan.files.length === 0) throw nothingToImport(plan)
  return plan
}

type PlacedEntry =
  | { kind: 'file'; index: number; path: string; bytes: number }
  | { kind: 'directory'; path: string }
  | { kind: 'unusable'; path: string; reason: string }

function placeEntries(entries: Iterable<SourceEntry>): PlacedEntry[] {
  const placed: PlacedEntry[] = []
  for (const entry of entries) {
    const judged = entryPath(entry.name)
    if (judged.kind === 'unsafe') throw unsafeName(entry.name, judged.issue)
    if (judged.kind === 'unusable') {
      // A folder is nothing by itself; its files are judged by their own names.
      if (entry.kind === 'directory') continue
      placed.push({ kind: 'unusable', path: shownName(judged.path), reason: judged.reason })
    } else if (entry.kind === 'directory') placed.push({ kind: 'directory', path: judged.path })
    else if (judged.path === '') throw unsafeName(entry.name, 'is not the name of a file')
    else if (entry.kind === 'file') placed.push({ ...entry, path: judged.path })
    else placed.push({ kind: 'unusable', path: judged.path, reason: entry.reason })
  }
  return placed
}

/** The one top folder that every entry is in; what an operating system adds beside it does not count. */
function sharedRoot(placed: readonly PlacedEntry[]): string | null {
  let root: string | null = null
  for (const { kind, path } of placed) {
    if (kind === 'directory' || ignoredAt(path)?.reason === 'operating system') continue
    const slash = path.indexOf('/')
    if (slash === -1) return null
    const top = path.slice(0, slash)
    if (root !== null && root !== top) return null
    root = top
  }
  // A folder that is left out stays in the paths, so that it is left out.
  return root !== null && ignoredAt(`${root}/x`) ? null : root
}

function countIgnored(
  ignored: Map<string, ImportPlan['ignored'][number]>,
  { path, reason }: { path: string; reason: IgnoreReason },
): void {
  const known = ignored.get(path)
  if (known) known.files += 1
  else ignored.set(path, { path, files: 1, reason })
}

function directoryPaths(placed: readonly PlacedEntry[], root: string | null): string[] {
  const listed = placed
    .filter(({ kind, path }) => kind === 'directory' && path !== '')
    .map(({ path }) => path)
  const directories = [...new Set(listed)]
  return root === null
    ? directories
    : directories.filter((path) => path.startsWith(`${root}/`)).map((path) => path.slice(root.length + 1))
}

function refuseConflicts({ files }: ImportPlan, directories: readonly string[]): void {
  const folders = new Set(directories)
  for (const { path } of files) for (const folder of foldersOf(path)) folders.add(folder)
  const conflict = files.find(({ path }) => folders.has(path))
  if (conflict) throw invalidField('files', `${shownName(conflict.path)} is both a file and a folder`)
}

/** The folders that a path lies in, from the top. */
export function foldersOf(path: string): string[] {
  const folders: string[] = []
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    folders.push(path.slice(0, slash))
  }
  return folders
}

function refuseSize({ files }: ImportPlan, maxBytes: number): void {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (bytes > maxBytes) throw invalidField('files', `unpacks to more than ${megabytes(maxBytes)}`)
}

function nothingToImport({ skipped, ignored }: ImportPlan): AppError {
  const [first] = skipped
  if (first) return invalidField('files', `holds no file to import: ${first.path} ${first.reason}`)
  const [folder] = ignored
  if (folder) return invalidField('files', `holds no file to import: ${folder.path} is ${folder.reason}`)
  return invalidField('files', 'holds no files')
}

function unsafeName(name: string, issue: string): AppError {
  return invalidField('files', `the name "${shownName(name)}" ${issue}`)
}
