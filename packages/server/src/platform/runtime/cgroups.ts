import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RuntimeLogger, SessionUsage, WorkspaceLimits } from './session-runtime.ts'

/** One workspace's place in the kernel's accounting. */
export interface WorkspaceGroup {
  /** files a process writes 0 to in order to join, before it becomes the sandbox */
  readonly joinFiles: string[]
  usage(): SessionUsage
  /** Kills what is left in it and removes it; false if something would not go. */
  remove(): Promise<boolean>
}

export interface Cgroups {
  /** what can be limited here */
  readonly controllers: readonly Controller[]
  open(workspaceId: string, limits: WorkspaceLimits): WorkspaceGroup
}

export type Controller = 'memory' | 'pids' | 'cpu'

/** Length of the period processor time is counted in, microseconds; the kernel's default. */
const cpuPeriod = 100_000
/** Processes the sandbox needs beside the user's. */
const ownProcesses = 16

const prefix = 'atelier-'

interface Hierarchy {
  version: 1 | 2
  controllers: Controller[]
  /** the server's own group, under which workspaces get theirs */
  base: string
}

/** Finds the hierarchies this process may make groups in. None is no fault: the self-test says what is missing. */
export function openCgroups({ logger }: { logger: RuntimeLogger }): Cgroups {
  const hierarchies = findHierarchies().flatMap((hierarchy) => {
    try {
      return usable(hierarchy) ?? []
    } catch (error) {
      // Who is not root is usually refused, and the self-test says what is missing then.
      if (!isRefusal(error)) logger.warn({ error, base: hierarchy.base }, 'no cgroups can be made here')
      return []
    }
  })
  for (const { base } of hierarchies) sweep(base)
  return {
    controllers: hierarchies.flatMap(({ controllers }) => controllers),
    open: (workspaceId, limits) => openGroup(hierarchies, `${prefix}${process.pid}-${workspaceId}`, limits),
  }
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && ['EACCES', 'EPERM', 'EROFS'].includes(String(error.code))
  )
}

function openGroup(hierarchies: Hierarchy[], name: string, limits: WorkspaceLimits): WorkspaceGroup {
  const groups = hierarchies.map((hierarchy) => ({ ...hierarchy, path: join(hierarchy.base, name) }))
  for (const group of groups) {
    mkdirSync(group.path, { recursive: true })
    for (const controller of group.controllers) {
      for (const [file, value] of settings(group.version, controller, limits))
        writeFileSync(join(group.path, file), value)
    }
  }
  const where = (controller: Controller) => groups.find(({ controllers }) => controllers.includes(controller))
  return {
    joinFiles: groups.map(({ path }) => join(path, 'cgroup.procs')),
    usage() {
      const memory = where('memory')
      const pids = where('pids')
      const used = memory?.version === 2 ? 'memory.current' : 'memory.usage_in_bytes'
      return {
        memoryBytes: memory === undefined ? null : readNumber(join(memory.path, used)),
        processes: pids === undefined ? null : readNumber(join(pids.path, 'pids.current')),
      }
    },
    async remove() {
      const gone = await Promise.all(groups.map(({ path }) => removeGroup(path)))
      return gone.every(Boolean)
    },
  }
}

function settings(
  version: 1 | 2,
  controller: Controller,
  limits: WorkspaceLimits,
): [file: string, value: string][] {
  const memory = String(limits.memoryBytes)
  const quota = String(Math.max(1000, Math.round(limits.cpus * cpuPeriod)))
  if (controller === 'pids') return [['pids.max', String(limits.processes + ownProcesses)]]
  if (version === 2)
    return controller === 'memory' ? [['memory.max', memory]] : [['cpu.max', `${quota} ${cpuPeriod}`]]
  return controller === 'memory' ? [['memory.limit_in_bytes', memory]] : [['cpu.cfs_quota_us', quota]]
}

/** Where the controllers are mounted and where in them this process is: proc(5) mountinfo and cgroup. */
function findHierarchies(): Hierarchy[] {
  const own = new Map<string, string>()
  for (const line of readLines('/proc/self/cgroup')) {
    const [, names = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    for (const name of names.split(',')) own.set(name, path)
  }
  return readLines('/proc/self/mountinfo').flatMap((line): Hierarchy[] => {
    const [left = '', right = ''] = line.split(' - ')
    const [, , , root = '/', mount = ''] = left.split(' ')
    const [type = '', , options = ''] = right.split(' ')
    if (type === 'cgroup2')
      return [{ version: 2, controllers: [], base: below(mount, root, own.get('') ?? '/') }]
    const names = options.split(',')
    const controllers = (['memory', 'pids', 'cpu'] as const).filter(
      (name) => type === 'cgroup' && names.includes(name),
    )
    const first = controllers[0]
    return first === undefined
      ? []
      : [{ version: 1, controllers, base: below(mount, root, own.get(first) ?? '/') }]
  })
}

/** A container may see its own group as the root of the mount. */
function below(mount: string, root: string, path: string): string {
  return join(mount, path.startsWith(root) && root !== '/' ? path.slice(root.length) : path)
}

/** The hierarchy with the controllers that really work in it; undefined if none does. */
function usable(hierarchy: Hierarchy): Hierarchy | undefined {
  const controllers = hierarchy.version === 2 ? delegate(hierarchy.base) : hierarchy.controllers
  if (controllers.length === 0) return undefined
  const trial = join(hierarchy.base, `${prefix}${process.pid}-trial`)
  mkdirSync(trial)
  rmdirSync(trial)
  return { ...hierarchy, controllers }
}

/**
 * Version 2 has processes in leaves only: the server steps into a leaf of its own, so that its group can hand its
 * controllers down. Works where the group was delegated to the server and holds nobody else.
 */
function delegate(base: string): Controller[] {
  const offered = readFileSync(join(base, 'cgroup.controllers'), 'latin1').trim().split(' ')
  const wanted = (['memory', 'pids', 'cpu'] as const).filter((name) => offered.includes(name))
  if (wanted.length === 0) return []
  const leaf = join(base, 'atelier-server')
  mkdirSync(leaf, { recursive: true })
  writeFileSync(join(leaf, 'cgroup.procs'), String(process.pid))
  try {
    writeFileSync(join(base, 'cgroup.subtree_control'), wanted.map((name) => `+${name}`).join(' '))
  } catch (error) {
    writeFileSync(join(base, 'cgroup.procs'), String(process.pid))
    throw error
  }
  return wanted
}

/** Removes groups whose server has died; its sandboxes died with it. */
function sweep(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = /^atelier-(\d+)-/.exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    try {
      rmdirSync(join(base, name))
    } catch {
      // Not empty: its processes are still on their way out, and the next start finds it again.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

const removeAttempts = 100
const removePauseMs = 20

async function removeGroup(path: string): Promise<boolean> {
  for (let attempt = 0; attempt < removeAttempts; attempt += 1) {
    try {
      rmdirSync(path)
      return true
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true
    }
    for (const pid of readLines(join(path, 'cgroup.procs'))) {
      try {
        process.kill(Number(pid), 'SIGKILL')
      } catch {
        // Gone meanwhile.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, removePauseMs))
  }
  return false
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'latin1')
      .split('\n')
      .filter((line) => line !== '')
  } catch {
    return []
  }
}

function readNumber(file: string): number | null {
  const value = Number(readLines(file)[0])
  return Number.isFinite(value) ? value : null
}
