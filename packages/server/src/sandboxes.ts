import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from './base/clock.ts'
import type { Config } from './platform/config/config.ts'
import { chooseRuntime } from './platform/runtime/choose-runtime.ts'
import {
  defaultWorkspaceLimits,
  type RuntimeLogger,
  type SessionRuntime,
  type WorkspaceSpec,
} from './platform/runtime/session-runtime.ts'

/** The runtime of workspaces as the configuration has it. Costs nothing until a workspace starts. */
export function configuredRuntime(
  { workspaces, dataDirectory }: Config,
  { users, clock, logger }: { users: { count(): Promise<number> }; clock: Clock; logger: RuntimeLogger },
): SessionRuntime {
  return chooseRuntime({
    kind: workspaces.runtime,
    docker: workspaces.docker,
    directory: dataDirectory,
    program: {
      directory: join(import.meta.dirname, '../../agent/dist'),
      node: process.execPath,
      codeServer: workspaces.codeServerDirectory,
      npm: workspaces.npmDirectory ?? npmBeside(process.execPath),
    },
    path: workspaces.path,
    countUsers: users.count,
    clock,
    logger,
  })
}

/** What every workspace of this server may use. */
export function configuredSpec({ workspaces }: Config): (workspaceId: string) => WorkspaceSpec {
  const { memoryBytes, egress } = workspaces
  return (workspaceId) => ({
    workspaceId,
    limits: { ...defaultWorkspaceLimits, memoryBytes },
    egress: egress === undefined ? null : { allow: egress },
  })
}

/** npm as Node's own distributions have it; below `/usr` workspaces find it by themselves. */
function npmBeside(node: string): string | undefined {
  const directory = join(dirname(node), '../lib/node_modules/npm')
  return !directory.startsWith('/usr/') && existsSync(directory) ? directory : undefined
}
