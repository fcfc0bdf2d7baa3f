import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A private MongoDB of this user: nothing survives it. */
export interface MongoServer extends AsyncDisposable {
  /** without the name of a database */
  readonly uri: string
  /** Ends it at once, as a power cut would. */
  crash(): Promise<void>
}

/** Why this machine cannot run one, in words for a person. */
export interface MongoUnavailable {
  readonly unavailable: string
}

/** The glibc that the engine is built for. */
const neededGlibc = 2.38

/** Where `scripts/install-newer-glibc.sh` is told to put one. */
const glibcFolders = [
  '/var/cache/atelier/glibc',
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'atelier/glibc'),
]
const libraries = 'usr/lib/x86_64-linux-gnu'

/**
 * Starts MongoDB's own engine in a process of its own, with a newer glibc where the system's is too old, or says why
 * that cannot be. `MONGODB_TEST_URI` names a server to be used instead. It ends with this process.
 */
export async function startMongoServer(): Promise<MongoServer | MongoUnavailable> {
  const given = process.env.MONGODB_TEST_URI
  if (given) return { uri: given, crash: async () => undefined, [Symbol.asyncDispose]: async () => undefined }
  const launcher = findLauncher()
  if ('unavailable' in launcher) return launcher
  const directory = await mkdtemp(join(tmpdir(), 'atelier-mongo-'))
  const child = spawn(
    launcher.command,
    [...launcher.before, join(import.meta.dirname, 'mongo-child.ts'), join(directory, 'data')],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      // Its socket too goes with the folder.
      env: { ...process.env, TMPDIR: directory },
    },
  )
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  // It may be gone when its input ends.
  child.stdin?.on('error', () => undefined)
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 5 })
  try {
    const uri = await firstLine(child, exited)
    return {
      uri,
      async crash() {
        child.kill('SIGKILL')
        await exited
      },
      async [Symbol.asyncDispose]() {
        child.stdin?.end()
        await exited
        await remove()
      },
    }
  } catch (error) {
    child.kill('SIGKILL')
    await remove()
    throw error
  }
}

/** Whether a server can be had, without starting one. */
export function mongoUnavailable(): string | undefined {
  if (process.env.MONGODB_TEST_URI) return undefined
  const launcher = findLauncher()
  return 'unavailable' in launcher ? launcher.unavailable : undefined
}

function findLauncher(): { command: string; before: string[] } | MongoUnavailable {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return { unavailable: 'set MONGODB_TEST_URI: the tests bring MongoDB for Linux on x86-64 only' }
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  const [major = 0, minor = 0] = (header?.glibcVersionRuntime ?? '').split('.').map(Number)
  if (major + minor / 100 >= neededGlibc) return { command: process.execPath, before: [] }
  const folder = glibcFolders.find((one) => existsSync(join(one, libraries)))
  if (folder === undefined)
    return {
      unavailable: `MongoDB needs glibc ${neededGlibc}; scripts/install-newer-glibc.sh puts it beside`,
    }
  const path = [join(folder, libraries), '/usr/lib/x86_64-linux-gnu'].join(':')
  const loader = join(folder, libraries, 'ld-linux-x86-64.so.2')
  return { command: loader, before: ['--library-path', path, process.execPath] }
}

async function firstLine(child: ChildProcess, exited: Promise<void>): Promise<string> {
  const errors: string[] = []
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors.push(text)
    if (errors.length > 50) errors.shift()
  })
  if (child.stdout === null) throw new Error('MongoDB has no output')
  const lines = createInterface({ input: child.stdout })
  const line = new Promise<string>((resolve) => lines.once('line', resolve))
  const first = await Promise.race([line, exited.then(() => undefined)])
  if (first === undefined) throw new Error(`MongoDB did not start:\n${errors.join('')}`)
  return first
}
