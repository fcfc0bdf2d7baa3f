import { execFile, spawn } from 'node:child_process'
import { chown, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'

const run = promisify(execFile)

/** Where Debian and its relatives put each major version. */
const debianServers = '/usr/lib/postgresql'
const installHint = 'scripts/install-postgres.sh installs both'
/** Longest start and stop of a small cluster, in milliseconds; they take 100. */
const startBudgetMilliseconds = 30_000
const stopBudgetMilliseconds = 10_000

/** A private cluster: loopback only, no password, nothing survives it. */
export interface PostgresServer extends AsyncDisposable {
  /** of the maintenance database, as superuser */
  readonly url: string
  /** Kills every process of the server, as a power cut would. */
  crash(): Promise<void>
  /** Fast, clean stop, as an operator's restart begins. */
  stop(): Promise<void>
  /** On the same port and data as before. */
  start(): Promise<void>
}

/** Why this machine cannot run one, in words for a person. */
export interface PostgresUnavailable {
  readonly unavailable: string
}

/**
 * Starts PostgreSQL with pgvector in a temporary directory, or says why that cannot be. Its text is sorted by the rules of
 * English, unlike the embedded engine's, so that a test finds code that depends on either. It stops with this process,
 * however that ends.
 */
export async function startPostgresServer(): Promise<PostgresServer | PostgresUnavailable> {
  const binaries = await findBinaries()
  if (typeof binaries !== 'string') return binaries
  const account = await serverAccount()
  if ('unavailable' in account) return account
  const directory = await mkdtemp(join(tmpdir(), 'atelier-postgres-'))
  if (account.uid !== undefined) await chown(directory, account.uid, account.gid ?? account.uid)
  await run(
    join(binaries, 'initdb'),
    [
      '-D',
      directory,
      '-U',
      'postgres',
      '--auth=trust',
      '--no-sync',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
    ].concat(['--locale-provider=icu', '--icu-locale=en-US']),
    { ...account, cwd: '/' },
  )
  const port = await freePort()
  const server = controlServer({ binaries, directory, port, account })
  try {
    await server.start()
    return server
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
}

interface Cluster {
  binaries: string
  directory: string
  port: number
  account: Account
}

function controlServer(cluster: Cluster): PostgresServer {
  const url = `postgres://postgres@127.0.0.1:${cluster.port}/postgres`
  let running: Guard | undefined
  const stop = async () => {
    await running?.stop()
    running = undefined
  }
  return {
    url,
    stop,
    start: async () => {
      const deadline = Date.now() + startBudgetMilliseconds
      for (;;) {
        // After a crash the first attempts may meet what is left of the old server.
        if (!running || running.over()) running = startGuarded(cluster)
        const problem = await connectionProblem(url)
        if (!problem) return
        if (Date.now() > deadline) {
          throw new Error(`PostgreSQL did not start:\n${running.output()}`, { cause: problem })
        }
        await sleep(50)
      }
    },
    crash: async () => {
      await running?.kill()
      running = undefined
    },
    [Symbol.asyncDispose]: async () => {
      await stop()
      await rm(cluster.directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

interface Guard {
  over(): boolean
  output(): string
  stop(): Promise<void>
  kill(): Promise<void>
}

/**
 * Runs the server until it ends, or until its input says so. An input that ends without a word means that we are gone;
 * then the directory goes too. `$0` is the directory.
 */
const guardScript = `
  exec 3<&0
  "$@" 3<&- &
  server=$!
  (read -r word <&3 || touch "$0/abandoned"; kill -INT $server) &
  reader=$!
  wait $server
  kill $reader 2> /dev/null
  if [ -e "$0/abandoned" ]; then rm -rf "$0"; fi`

function startGuarded({ binaries, directory, port, account }: Cluster): Guard {
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: directory,
    fsync: 'off',
    full_page_writes: 'off',
    max_connections: 60,
    shared_buffers: '32MB',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const postgres = [join(binaries, 'postgres'), '-D', directory, ...flags]
  const child = spawn('/bin/sh', ['-c', guardScript, directory, ...postgres], {
    ...account,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let over = false
  const kill = async () => {
    if (!over && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await exited
  }
  child.once('exit', () => {
    over = true
    child.stdin.destroy()
  })
  // The guard may be gone when its input ends.
  child.stdin.on('error', () => {})
  const output: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.push(text)
    if (output.length > 50) output.shift()
  })
  return {
    over: () => over,
    output: () => output.join(''),
    kill,
    stop: async () => {
      child.stdin.end('stop\n')
      const late = sleep(stopBudgetMilliseconds, 'late', { ref: false })
      if ((await Promise.race([exited, late])) === 'late') await kill()
    },
  }
}

async function connectionProblem(url: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    await client.end()
    return undefined
  } catch (error) {
    return error
  }
}

/** The newest installed version that has pgvector. */
async function findBinaries(): Promise<string | PostgresUnavailable> {
  const versions = (await readdir(debianServers).catch(() => [])).sort((a, b) => Number(b) - Number(a))
  for (const version of versions) {
    const binaries = join(debianServers, version, 'bin')
    const extension = `/usr/share/postgresql/${version}/extension/vector.control`
    if ((await exists(join(binaries, 'initdb'))) && (await exists(extension))) return binaries
  }
  const what = versions.length === 0 ? 'PostgreSQL is not installed' : 'PostgreSQL has no pgvector'
  return { unavailable: `${what}; ${installHint}` }
}

interface Account {
  uid?: number
  gid?: number
}

/** PostgreSQL refuses to run as root, so root runs it as `postgres`. */
async function serverAccount(): Promise<Account | PostgresUnavailable> {
  if (process.getuid?.() !== 0) return {}
  const line = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .find((entry) => entry.startsWith('postgres:'))
  const [, , uid, gid] = line?.split(':') ?? []
  if (uid === undefined || gid === undefined)
    return { unavailable: `there is no user postgres; ${installHint}` }
  return { uid: Number(uid), gid: Number(gid) }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}
