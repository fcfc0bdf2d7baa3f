export interface PickedFile {
  /** relative path with `/` between its segments */
  path: string
  file: File
}

/** What a person dropped or picked, without the folders that never belong to a project's text. */
export interface Picked {
  files: PickedFile[]
  bytes: number
  /** paths of folders that were left out */
  leftOut: string[]
}

/** Histories, installed packages and caches: large, not written by the person, and made again by a tool. */
const leftOutFolders = new Set(['.git', '.hg', '.svn', 'node_modules', '.venv', '__pycache__', '.DS_Store'])

/** Most files of one import from the page; a larger project comes as an archive. */
export const maxPickedFiles = 20_000

export class TooManyFilesError extends Error {
  override readonly name = 'TooManyFilesError'
}

/** Takes what a drop holds. The entries must be read while the event is handled, so call it before anything is awaited. */
export function entriesOfDrop(transfer: DataTransfer): FileSystemEntry[] {
  return Array.from(transfer.items)
    .map((item) => (item.kind === 'file' ? item.webkitGetAsEntry() : null))
    .filter((entry) => entry !== null)
}

/**
 * Reads dropped files and folders to their leaves; `onProgress` hears how many files were found.
 * Throws TooManyFilesError, or DOMException for a file that cannot be read.
 */
export async function readEntries(
  entries: readonly FileSystemEntry[],
  onProgress: (files: number) => void,
): Promise<Picked> {
  const picked: Picked = { files: [], bytes: 0, leftOut: [] }
  const waiting = [...entries]
  for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
    const path = entry.fullPath.replace(/^\//, '')
    if (leftOutFolders.has(entry.name)) {
      if (entry.isDirectory) picked.leftOut.push(path)
    } else if (entry.isDirectory) {
      waiting.push(...(await childrenOf(entry as FileSystemDirectoryEntry)))
    } else {
      add(picked, path, await fileOf(entry as FileSystemFileEntry))
      onProgress(picked.files.length)
    }
  }
  return picked
}

/** Files from a file or folder picker: a folder's files carry their path in `webkitRelativePath`. */
export function pickedOfList(list: Iterable<File>): Picked {
  const picked: Picked = { files: [], bytes: 0, leftOut: [] }
  const leftOut = new Set<string>()
  for (const file of list) {
    const path = file.webkitRelativePath || file.name
    const segments = path.split('/')
    const at = segments.findIndex((segment) => leftOutFolders.has(segment))
    if (at === -1) add(picked, path, file)
    else if (at < segments.length - 1) leftOut.add(segments.slice(0, at + 1).join('/'))
  }
  picked.leftOut = [...leftOut]
  return picked
}

/** The one folder that holds every file; null where there is none. */
export function commonRoot(paths: readonly string[]): string | null {
  const root = paths[0]?.split('/')[0]
  if (root === undefined) return null
  return paths.every((path) => path.startsWith(`${root}/`)) ? root : null
}

export function isArchive(name: string): boolean {
  return /\.(zip|tar|tgz|tar\.gz)$/i.test(name)
}

function add(picked: Picked, path: string, file: File): void {
  if (picked.files.length >= maxPickedFiles) throw new TooManyFilesError(`more than ${maxPickedFiles} files`)
  picked.files.push({ path, file })
  picked.bytes += file.size
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

/** A reader gives a folder in portions, an empty one last. */
async function childrenOf(entry: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = entry.createReader()
  const children: FileSystemEntry[] = []
  for (;;) {
    const portion = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (portion.length === 0) return children
    children.push(...portion)
  }
}
