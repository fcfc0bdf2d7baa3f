import { readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DataDirectoryError } from './data-directory-error.ts'
import { identifyOwnProcess, isRunning, type ProcessIdentity } from './process-identity.ts'

/** How often a holder shows that it lives, in milliseconds. */
const heartbeatMilliseconds = 2_000
/** Two missed beats and a margin. */
const defaultSilenceMilliseconds = 5_000
/** A bound on lost races with other starters; each loss means that another one has won. */
const maxAttempts = 5

/** Holds the directory for this process until it is disposed of. */
export type DataDirectoryLock = AsyncDisposable

/** `null` in a lock file: its holder has closed the directory. */
type Holder = ProcessIdentity | null

interface Generation {
  number: number
  file: string
}

/**
 * Makes this process the only user of `directory`, or throws DataDirectoryError naming the process that is.
 *
 * Lock files are numbered. Who creates the next number holds the lock, and the file system lets one process create a
 * file; the highest number is never deleted, so a starter that looked at an older state cannot win. A holder is gone
 * when its process is (pid and start time), or, where its pid means nothing here (another container on the same
 * volume), when it stopped touching its file. Two machines on one network disk are not supported.
 *
 * `onLost` is called when another process has taken the lock, which it can do only if this one stood still for
 * seconds without its pid being visible: the directory must not be written any more.
 */
export async function lockDataDirectory(options: {
  directory: string
  onLost: (error: DataDirectoryError) => void
  /** how long a holder that cannot be asked must be silent to count as gone */
  silenceMilliseconds?: number
}): Promise<DataDirectoryLock> {
  const { directory, onLost, silenceMilliseconds = defaultSilenceMilliseconds } = options
  const self = await identifyOwnProcess()
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const last = (await generations(directory)).at(-1)
    if (last) await assertFree(directory, last, silenceMilliseconds)
    const own = generation(directory, (last?.number ?? 0) + 1)
    if (await create(directory, own, self)) return hold(directory, own, onLost)
  }
  throw new DataDirectoryError(
    `The database directory ${directory} is being opened by several processes at once.`,
  )
}

async function assertFree(directory: string, last: Generation, silenceMilliseconds: number): Promise<void> {
  const holder = await readHolder(last)
  if (holder === null) return
  const running = holder === 'unreadable' ? 'unknown' : await isRunning(holder)
  const inUse = running === 'unknown' ? await isBeating(last, silenceMilliseconds) : running
  if (!inUse) return
  const who = holder === 'unreadable' ? 'another process' : `process ${holder.pid}`
  const where = running === 'unknown' ? ' of another container or machine' : ''
  throw new DataDirectoryError(
    `The database directory ${directory} is in use by ${who}${where}. ` +
      'One process at a time can use it: stop that one, or give this one another ATELIER_DATA_DIR.',
  )
}

/** False when another starter was first. */
async function create(directory: string, own: Generation, self: ProcessIdentity): Promise<boolean> {
  try {
    await writeFile(own.file, JSON.stringify(self), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  const present = await generations(directory)
  if (present.at(-1)?.number !== own.number) {
    await rm(own.file, { force: true })
    return false
  }
  for (const old of present.slice(0, -1)) await rm(old.file, { force: true })
  return true
}

function hold(
  directory: string,
  own: Generation,
  onLost: (error: DataDirectoryError) => void,
): DataDirectoryLock {
  const timer = setInterval(() => {
    beat(directory, own).then((lost) => {
      if (!lost) return
      clearInterval(timer)
      onLost(lost)
    })
  }, heartbeatMilliseconds)
  timer.unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      if ((await generations(directory)).at(-1)?.number === own.number) await writeFile(own.file, 'null')
    },
  }
}

/** Why the lock is lost, `undefined` while it is not. */
async function beat(directory: string, own: Generation): Promise<DataDirectoryError | undefined> {
  try {
    const now = new Date()
    await utimes(own.file, now, now)
    if ((await generations(directory)).at(-1)?.number === own.number) return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A full or read-only disk keeps the beat from being seen, but takes nothing from us.
    if (code !== 'ENOENT') return undefined
    return new DataDirectoryError(`The lock of ${directory} was removed while in use.`, { cause: error })
  }
  return new DataDirectoryError(`Another process has taken over ${directory}.`)
}

/** Watches whether the holder touches its file: independent of either machine's clock. */
async function isBeating(last: Generation, silenceMilliseconds: number): Promise<boolean> {
  const before = await modifiedAt(last)
  await sleep(silenceMilliseconds)
  return (await modifiedAt(last)) !== before
}

async function modifiedAt({ file }: Generation): Promise<number | undefined> {
  try {
    return (await stat(file)).mtimeMs
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** `unreadable`: its creator is writing it this moment, or died doing so. */
async function readHolder({ file }: Generation): Promise<Holder | 'unreadable'> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Holder
  } catch {
    return 'unreadable'
  }
}

function generation(directory: string, number: number): Generation {
  return { number, file: join(directory, `lock-${number}.json`) }
}

/** In rising order. */
async function generations(directory: string): Promise<Generation[]> {
  const numbers = (await readdir(directory)).flatMap((name) => {
    const match = /^lock-(\d+)\.json$/.exec(name)
    return match ? [Number(match[1])] : []
  })
  return numbers.sort((a, b) => a - b).map((number) => generation(directory, number))
}
