import { join } from 'node:path'
import { type Clock, systemClock } from '../../base/clock.ts'
import { createDrivenRuntime, type Session } from './driven-runtime.ts'
import { startLocalSession, streamDescriptor } from './local-session.ts'
import { sandboxEnvironment } from './sandbox-arguments.ts'
import type { AgentProgram } from './sandbox-files.ts'
import type { SelfTestReport, SessionRuntime, WorkspaceSpec } from './session-runtime.ts'
import { createWorkspaceDirectories } from './workspace-directories.ts'

export interface NoneRuntimeOptions {
  /** where workspaces live: one directory each */
  directory: string
  program: AgentProgram
  /** PATH of programs in workspaces */
  path: string
  facts: NoneFacts
  clock?: Clock
}

/** What must all be true before programs run without isolation. */
export interface NoneFacts {
  /** the configuration asks for it by name */
  configured: boolean
  /** nobody but one person can sign in */
  singleUser: boolean
  /** the server listens on loopback addresses only */
  loopbackOnly: boolean
}

/**
 * Runs agents as plain processes of the server's user, for machines without namespaces. Throws Error, naming what
 * speaks against it, unless all facts hold.
 */
export function createNoneRuntime(options: NoneRuntimeOptions): SessionRuntime {
  const objections = objectionsTo(options.facts)
  if (objections.length > 0)
    throw new Error(`workspaces without isolation are refused: ${objections.join('; ')}`)
  const directories = createWorkspaceDirectories({
    directory: join(options.directory, 'workspaces'),
    separateUsers: false,
  })
  const driver = {
    kind: 'none' as const,
    selfTest: async () => unprotected,
    prepare: async (workspaceId: string) => void (await directories.prepare(workspaceId)),
    launch: (spec: WorkspaceSpec, epoch: bigint) => launch(options, spec, { epoch, directories }),
    remove: directories.remove,
    [Symbol.asyncDispose]: async () => undefined,
  }
  return createDrivenRuntime({ driver, clock: options.clock ?? systemClock })
}

function objectionsTo({ configured, singleUser, loopbackOnly }: NoneFacts): string[] {
  return [
    ...(configured ? [] : ['the configuration does not ask for it']),
    ...(singleUser ? [] : ['there is more than one user']),
    ...(loopbackOnly ? [] : ['the server listens beyond loopback']),
  ]
}

const unprotected: SelfTestReport = {
  passed: true,
  isolation: 'none',
  limits: [],
  missing: [
    'isolation of any kind: programs in a workspace can do whatever the server can',
    'limits of any kind',
  ],
  probes: [],
}

async function launch(
  { program, path }: NoneRuntimeOptions,
  spec: WorkspaceSpec,
  { epoch, directories }: { epoch: bigint; directories: { prepare(id: string): Promise<{ home: string }> } },
): Promise<Session> {
  const { home } = await directories.prepare(spec.workspaceId)
  return startLocalSession({
    file: program.node,
    args: [
      ...[join(program.directory, 'agent.mjs'), '--fd', String(streamDescriptor), '--epoch', String(epoch)],
      ...['--root', join(home, 'workspace'), '--state', join(home, '.atelier')],
    ],
    environment: { ...sandboxEnvironment(), PATH: path, HOME: home },
    cwd: home,
    inputs: [],
    usage: () => null,
    cleanUp: async () => undefined,
  })
}
