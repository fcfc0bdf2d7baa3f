import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fsync as fsyncWithCallback,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeSync,
  write as writeWithCallback,
} from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Fault, ignoring } from '../fault.ts'
import { type DirectoryHandle, openDirectoryAt } from './directory-handle.ts'

/** Content that is on disk, fsynced, under a name nobody looks at, waiting to be renamed into place. */
export interface StagedFile {
  name: string
  revision: string
  size: number
}

/**
 * The agent's own directory beside the workspace, on the same file system: half-written files, the journal of a
 * batch and removed files wait here. It belongs to the sandbox's user, so it is never trusted, only convenient.
 */
export interface Stage {
  /** the directory now; it is made anew if the user has removed it */
  directory(): DirectoryHandle
  freshName(): string
  /** Writes and fsyncs content under a fresh name. Throws TOO_LARGE above `maxBytes`; leaves nothing behind then. */
  content(
    body: AsyncIterable<Uint8Array>,
    options: { maxBytes: number; signal: AbortSignal },
  ): Promise<StagedFile>
  /** Removes an entry and all below it; what cannot be removed stays until the next start. */
  discard(name: string): Promise<void>
  /** Removes everything that a crash has left; resolves to the names that would not go. */
  purge(): Promise<string[]>
}

const fsync = promisify(fsyncWithCallback)
const write = promisify(writeWithCallback)

const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

export function openStage(path: string): Stage & Disposable {
  let handle = openStageDirectory(path)

  function directory(): DirectoryHandle {
    // A removed directory still opens its own `.`, with no link left to it.
    if (lstatSync(handle.at()).nlink === 0 || lstatSync(path, { throwIfNoEntry: false }) === undefined) {
      handle[Symbol.dispose]()
      handle = openStageDirectory(path)
    }
    return handle
  }

  async function discard(name: string): Promise<void> {
    await removeTree(directory(), name)
  }

  return {
    directory,
    freshName: () => randomBytes(12).toString('hex'),
    discard,
    async content(body, { maxBytes, signal }) {
      const name = randomBytes(12).toString('hex')
      try {
        return { name, ...(await writeContent(directory().at(name), body, { maxBytes, signal })) }
      } catch (error) {
        await discard(name)
        throw error
      }
    },
    async purge() {
      const stuck: string[] = []
      for (const name of readdirSync(directory().at())) {
        try {
          await discard(name)
        } catch {
          // A tree the user has made unremovable must not keep the workspace from starting.
          stuck.push(name)
        }
      }
      return stuck
    },
    [Symbol.dispose]: () => handle[Symbol.dispose](),
  }
}

/** Whatever else stands under the name (a link, a file) is moved aside: it is the user's, and it is in the way. */
function openStageDirectory(path: string): DirectoryHandle {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats !== undefined && !stats.isDirectory())
    renameSync(path, `${path}.moved-${randomBytes(4).toString('hex')}`)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return openDirectoryAt(path)
}

/** A piece this small goes to the page cache faster than a thread can be asked to take it there. */
const smallPiece = 64 * 1024

async function writeContent(
  path: string,
  body: AsyncIterable<Uint8Array>,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<{ revision: string; size: number }> {
  const descriptor = openSync(path, createFlags, 0o644)
  try {
    const hash = createHash('sha256')
    let size = 0
    for await (const chunk of body) {
      signal.throwIfAborted()
      size += chunk.length
      if (size > maxBytes)
        throw new Fault('TOO_LARGE', `content is over ${maxBytes} bytes`, { details: { limit: maxBytes } })
      hash.update(chunk)
      for (let done = 0; done < chunk.length; ) {
        const rest = chunk.subarray(done)
        done +=
          rest.length <= smallPiece
            ? writeSync(descriptor, rest)
            : (await write(descriptor, rest)).bytesWritten
      }
    }
    signal.throwIfAborted()
    await fsync(descriptor)
    return { revision: hash.digest('hex'), size }
  } finally {
    closeSync(descriptor)
  }
}

const entriesPerTurn = 500

/**
 * Removes without following links. A subdirectory is first moved up beside `name`, so a tree of any depth needs one
 * open directory; a directory without permissions is given them.
 */
async function removeTree(parent: DirectoryHandle, name: string): Promise<void> {
  const directories: string[] = []
  takeApart(parent.at(name), () => directories.push(name))
  let done = 0
  for (let current = directories.pop(); current !== undefined; current = directories.pop()) {
    using directory = parent.open(current)
    for (const entry of readdirSync(directory.at())) {
      takeApart(directory.at(entry), () => {
        const moved = randomBytes(12).toString('hex')
        renameSync(directory.at(entry), parent.at(moved))
        directories.push(moved)
      })
      done += 1
      if (done % entriesPerTurn === 0) await nextTurn()
    }
    ignoring('ENOENT', () => rmdirSync(parent.at(current)))
  }
}

/** Unlinks what is not a directory; makes a directory writable and hands it to `onDirectory`. */
function takeApart(path: string, onDirectory: () => void): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return
  if (!stats.isDirectory()) {
    ignoring('ENOENT', () => unlinkSync(path))
    return
  }
  if ((stats.mode & 0o700) !== 0o700) chmodSync(path, 0o700)
  onDirectory()
}
