import {
  closeSync,
  constants,
  fsyncSync,
  fsync as fsyncWithCallback,
  lstatSync,
  mkdirSync,
  openSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { errnoOf, Fault } from '../fault.ts'

/**
 * An open directory. Names are resolved against the open directory itself, so nothing that happens to the path
 * that led here can redirect what is done next. Close it, or let `using` do so.
 */
export interface DirectoryHandle extends Disposable {
  /** a path the kernel resolves to `name` inside this directory; without a name, to the directory */
  at(name?: string): string
  /** Opens a subdirectory; refuses a symbolic link. */
  open(name: string): DirectoryHandle
  /** Makes this directory's entries durable. */
  sync(): void
  /** As `sync`, while other work goes on. */
  synced(): Promise<void>
}

const fsync = promisify(fsyncWithCallback)

const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Opens the directory an absolute path leads to; links in the path itself are the caller's choice. */
export function openDirectoryAt(path: string): DirectoryHandle {
  return process.platform === 'linux' ? byDescriptor(path) : byPath(path)
}

/** Linux: /proc/self/fd/N/name starts at the open directory, whatever became of its path. */
function byDescriptor(path: string): DirectoryHandle {
  const descriptor = openSync(path, directoryFlags)
  const base = `/proc/self/fd/${descriptor}`
  return {
    // The bare descriptor path is itself a link; with `/.` it is the directory.
    at: (name) => `${base}/${name ?? '.'}`,
    open: (name) => refusingLinks(`${base}/${name}`, byDescriptor),
    sync: () => fsyncSync(descriptor),
    synced: () => fsync(descriptor),
    [Symbol.dispose]: () => closeSync(descriptor),
  }
}

/**
 * Elsewhere there is no such path: every step is checked, but whoever can write to the workspace could still swap
 * a directory between check and use. Only the runtime without isolation runs here, for a single user.
 */
function byPath(path: string): DirectoryHandle {
  const stats = lstatSync(path)
  if (stats.isSymbolicLink()) throw new Fault('LINK_REFUSED', 'the path leads through a symbolic link')
  if (!stats.isDirectory()) throw new Fault('NOT_A_DIRECTORY', 'not a directory')
  return {
    at: (name) => (name === undefined ? path : join(path, name)),
    open: (name) => refusingLinks(join(path, name), byPath),
    sync: () => syncPath(path),
    synced: async () => syncPath(path),
    [Symbol.dispose]: () => undefined,
  }
}

function syncPath(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function refusingLinks(path: string, open: (path: string) => DirectoryHandle): DirectoryHandle {
  try {
    return open(path)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno !== 'ENOTDIR' && errno !== 'ELOOP') throw error
    // The kernel reports a link and a file alike here.
    const link = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    if (link) throw new Fault('LINK_REFUSED', `${basename(path)} is a symbolic link`, { cause: error })
    throw new Fault('NOT_A_DIRECTORY', `${basename(path)} is not a directory`, { cause: error })
  }
}

/** Opens `path` below `root` one name at a time, through no link. The root itself is opened anew for ''. */
export function openDirectory(root: DirectoryHandle, path: string): DirectoryHandle {
  return walkDown(root, path === '' ? [] : path.split('/'), (parent, name) => parent.open(name))
}

/** As openDirectory, making and fsyncing the directories that are missing. */
export function ensureDirectory(root: DirectoryHandle, path: string): DirectoryHandle {
  return walkDown(root, path === '' ? [] : path.split('/'), (parent, name) => {
    try {
      return parent.open(name)
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error
    }
    makeDirectory(parent, name)
    return parent.open(name)
  })
}

function makeDirectory(parent: DirectoryHandle, name: string): void {
  try {
    mkdirSync(parent.at(name))
    parent.sync()
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
  }
}

function walkDown(
  root: DirectoryHandle,
  names: string[],
  step: (parent: DirectoryHandle, name: string) => DirectoryHandle,
): DirectoryHandle {
  let current = openDirectoryAt(root.at())
  for (const name of names) {
    const parent = current
    try {
      current = step(parent, name)
    } finally {
      parent[Symbol.dispose]()
    }
  }
  return current
}

/** Parent directory and last name of a path that is not the root. */
export function splitPath(path: string): { parent: string; name: string } {
  const slash = path.lastIndexOf('/')
  return slash === -1
    ? { parent: '', name: path }
    : { parent: path.slice(0, slash), name: path.slice(slash + 1) }
}
