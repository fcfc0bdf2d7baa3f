import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'

/** What Linux tells of a process in /proc/<pid>/stat, proc(5). */
export interface ProcessStatus {
  pid: number
  name: string
  parent: number
  group: number
  /** foreground group of its terminal, -1 without one */
  foregroundGroup: number
  /** pages of 4 KiB in memory */
  residentPages: number
}

/** Undefined if there is no such process, or no /proc. */
export function readProcess(pid: number): ProcessStatus | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    // Gone meanwhile, or another system: either way nothing is known of it.
    return undefined
  }
  // The name is in parentheses and may hold anything, parentheses included.
  const close = text.lastIndexOf(')')
  const name = text.slice(text.indexOf('(') + 1, close)
  const fields = text
    .slice(close + 2)
    .split(' ')
    .map(Number)
  const [, parent = 0, group = 0, , , foregroundGroup = -1] = fields
  return { pid, name, parent, group, foregroundGroup, residentPages: fields[21] ?? 0 }
}

export function listProcesses(): ProcessStatus[] {
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return []
  }
  return names.filter((name) => /^\d+$/.test(name)).flatMap((pid) => readProcess(Number(pid)) ?? [])
}

/** What a person calls a process: the program it runs. Its kernel name is often a thread's. */
export function programName(pid: number): string {
  const [program = ''] = readArguments(pid)
  return basename(program) || readProcess(pid)?.name || ''
}

/** The command line of a process; empty if there is no such process. */
export function readArguments(pid: number): string[] {
  return readText(`/proc/${pid}/cmdline`).split('\0').slice(0, -1)
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Gone meanwhile.
    return ''
  }
}

/** Signals a process group; a group that has gone is no fault. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  // 0 and 1 would address our own group and everything.
  if (group <= 1) return
  try {
    process.kill(-group, signal)
  } catch {
    // ESRCH: it has ended.
  }
}

/** When memory runs out, the kernel should end a user's program before the agent: proc(5) oom_score_adj, -1000 to 1000. */
export function offerToOutOfMemory(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '500')
  } catch {
    // It has ended already, or this system has no such file.
  }
}
