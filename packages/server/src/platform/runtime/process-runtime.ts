import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../base/clock.ts'
import { type Cgroups, openCgroups } from './cgroups.ts'
import { createDrivenRuntime, type Session } from './driven-runtime.ts'
import type { OpenEgress } from './egress-proxy.ts'
import { launchCommand, relocate } from './launcher.ts'
import { startLocalSession, streamDescriptor } from './local-session.ts'
import {
  bubblewrapArguments,
  insidePaths,
  limitCommand,
  type SandboxMount,
  sandboxEnvironment,
} from './sandbox-arguments.ts'
import { type AgentProgram, programMounts, systemMounts, writeIdentityFiles } from './sandbox-files.ts'
import { seccompFilter } from './seccomp-filter.ts'
import { runSelfTest } from './self-test.ts'
import type { RuntimeLogger, SessionRuntime, WorkspaceSpec } from './session-runtime.ts'
import { openWayOut, type WayOut } from './way-out.ts'
import { createWorkspaceDirectories, type WorkspaceDirectory } from './workspace-directories.ts'

export interface ProcessRuntimeOptions {
  /** where workspaces live: one directory each */
  directory: string
  program: AgentProgram
  openEgress: OpenEgress
  logger: RuntimeLogger
  clock?: Clock
  /** name or path of bubblewrap */
  bubblewrap?: string
}

/** What is started inside, in place of the agent in a self-test. */
export type InsideCommand = (spec: WorkspaceSpec, epoch: bigint) => string[]

/** Runs every workspace as processes of this machine, inside bubblewrap. */
export function createProcessRuntime(options: ProcessRuntimeOptions): SessionRuntime {
  const { directory, logger } = options
  const directories = createWorkspaceDirectories({ directory: join(directory, 'workspaces') })
  const identity = writeIdentityFiles(join(directory, 'etc'))
  const cgroups = openCgroups({ logger })
  const launch = (spec: WorkspaceSpec, command: string[]) =>
    launchSandbox(
      { ...options, cgroups, identity, separateUsers: directories.users.separate },
      { spec, command, directories },
    )
  const driver = {
    kind: 'process' as const,
    selfTest: () =>
      runSelfTest({
        isolation: 'namespace',
        directories,
        launch,
        missing: missingHere(cgroups, directories.users.separate),
        canEnforce: cgroups.controllers,
      }),
    prepare: async (workspaceId: string) => void (await directories.prepare(workspaceId)),
    launch: (spec: WorkspaceSpec, epoch: bigint) => launch(spec, agentCommand(spec, epoch)),
    remove: directories.remove,
    [Symbol.asyncDispose]: async () => undefined,
  }
  mkdirSync(directory, { recursive: true })
  return createDrivenRuntime({ driver, clock: options.clock ?? systemClock })
}

/** The agent's command line inside. */
export function agentCommand(
  spec: WorkspaceSpec,
  epoch: bigint,
  transport: string[] = ['--fd', String(streamDescriptor)],
): string[] {
  return [
    ...[insidePaths.node, `${insidePaths.agent}/agent.mjs`, '--sandboxed'],
    ...['--root', insidePaths.root, '--state', insidePaths.state, '--epoch', String(epoch)],
    ...(spec.egress === null ? [] : ['--egress', insidePaths.egress]),
    ...transport,
  ]
}

interface LaunchDeps extends ProcessRuntimeOptions {
  cgroups: Cgroups
  identity: SandboxMount[]
  separateUsers: boolean
}

async function launchSandbox(
  deps: LaunchDeps,
  {
    spec,
    command,
    directories,
  }: {
    spec: WorkspaceSpec
    command: string[]
    directories: { prepare(id: string): Promise<WorkspaceDirectory> }
  },
): Promise<Session & { readonly pid: number | undefined }> {
  const place = await directories.prepare(spec.workspaceId)
  const wayOut = await openWayOut(deps.openEgress, spec, place)
  const group = deps.cgroups.open(spec.workspaceId, spec.limits)
  try {
    const filter = seccompFilter()
    const { wrapped, relocations } = wrap(deps, { spec, place, wayOut, filtered: filter !== undefined })
    const launched = launchCommand({
      joinFiles: group.joinFiles,
      user: deps.separateUsers ? place.user : undefined,
      relocations,
      keepDescriptors: [streamDescriptor, argumentsDescriptor, filterDescriptor],
      command: [
        deps.bubblewrap ?? 'bwrap',
        '--args',
        String(argumentsDescriptor),
        '--',
        ...limitCommand(spec.limits),
        ...command,
      ],
    })
    return startLocalSession({
      ...launched,
      environment: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
      cwd: '/',
      inputs: [
        Buffer.from(wrapped.map((argument) => `${argument}\0`).join('')),
        ...(filter === undefined ? [] : [filter]),
      ],
      usage: group.usage,
      async cleanUp() {
        await wayOut[Symbol.asyncDispose]()
        if (!(await group.remove()))
          deps.logger.warn({ workspaceId: spec.workspaceId }, 'processes of a sandbox would not end')
      },
    })
  } catch (error) {
    await wayOut[Symbol.asyncDispose]()
    await group.remove()
    throw error
  }
}

const argumentsDescriptor = streamDescriptor + 1
const filterDescriptor = streamDescriptor + 2

function wrap(
  deps: LaunchDeps,
  {
    spec,
    place,
    wayOut,
    filtered,
  }: { spec: WorkspaceSpec; place: WorkspaceDirectory; wayOut: WayOut; filtered: boolean },
) {
  const system = systemMounts()
  const program = programMounts(deps.program)
  const own: SandboxMount[] = [
    ...deps.identity,
    ...program.mounts,
    { source: place.home, target: insidePaths.home, writable: true },
    ...wayOut.mounts,
  ]
  const relocations = deps.separateUsers ? relocate(own.map(({ source }) => source)) : []
  const moved = new Map(relocations.map(({ source, target }) => [source, target]))
  const mounts = [
    ...system.mounts,
    ...own.map((mount) => ({ ...mount, source: moved.get(mount.source) ?? mount.source })),
  ]
  const wrapped = bubblewrapArguments({
    mounts,
    links: [...system.links, ...program.links],
    environment: sandboxEnvironment(),
    limits: spec.limits,
    filterDescriptor: filtered ? filterDescriptor : undefined,
  })
  return { wrapped, relocations }
}

function missingHere(cgroups: Cgroups, separateUsers: boolean): string[] {
  const has = (name: 'memory' | 'pids' | 'cpu') => cgroups.controllers.includes(name)
  return [
    ...(separateUsers ? [] : ['a host user for each workspace: the server does not run as root']),
    ...(has('memory') ? [] : ['a limit on memory: no cgroup can be made here']),
    ...(has('cpu') ? [] : ['a limit on processor time: no cgroup can be made here']),
    ...(seccompFilter() === undefined ? [`a system call filter: none is known for ${process.arch}`] : []),
    'a limit on disk space as a whole: one file is limited, their sum is not',
  ]
}
