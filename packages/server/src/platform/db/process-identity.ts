import { execFile } from 'node:child_process'
import { readFile, readlink } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Names one process for good: a pid alone is used again, after a restart of the machine or in another container. */
export interface ProcessIdentity {
  pid: number
  /** when the process began: clock ticks since boot on Linux, a date elsewhere; empty where neither is known */
  startedAt: string
  /** what the pid is a number of: boot and pid namespace on Linux, `local` elsewhere */
  namespace: string
}

export async function identifyOwnProcess(): Promise<ProcessIdentity> {
  return {
    pid: process.pid,
    startedAt: (await startTime(process.pid)) ?? '',
    namespace: await ownNamespace(),
  }
}

/**
 * Whether that process runs: `unknown` when it belongs to another machine or container, of which this one sees no
 * processes.
 */
export async function isRunning(identity: ProcessIdentity): Promise<boolean | 'unknown'> {
  if (identity.namespace !== (await ownNamespace())) return 'unknown'
  const started = await startTime(identity.pid)
  if (started === undefined) return false
  return started === '' || identity.startedAt === '' || started === identity.startedAt
}

async function ownNamespace(): Promise<string> {
  if (process.platform !== 'linux') return 'local'
  const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
  return `${boot} ${await readlink('/proc/self/ns/pid')}`
}

/** When the process began, empty where that cannot be told, `undefined` when there is no such process. */
async function startTime(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') return await linuxStartTime(pid)
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined
  }
  if (process.platform === 'win32') return ''
  const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)])
  return stdout.trim()
}

/** Field 22 of /proc/<pid>/stat; the second field, the command, may itself hold spaces and brackets. */
async function linuxStartTime(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    const afterCommand = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return afterCommand[0] === 'Z' ? undefined : afterCommand[19]
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}
