import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { createOnDemandRuntime } from './on-demand-runtime.ts'
import type { AgentProgram } from './sandbox-files.ts'
import type { RuntimeLogger, SessionRuntime } from './session-runtime.ts'

export interface RuntimeChoice {
  kind: 'process' | 'docker' | 'none'
  /** image of containers, and the daemon's socket unless it is the usual one */
  docker: { image: string; socketPath: string | undefined }
  /** where workspaces live */
  directory: string
  program: AgentProgram
  /** PATH of the server: bubblewrap is looked for in it, and without isolation it is that of workspaces too */
  path: string
  /** how many people have an account: more than one rules out a runtime without isolation */
  countUsers(): Promise<number>
  clock: Clock
  logger: RuntimeLogger
}

/** The runtime the configuration names. Nothing of it is loaded or tried before the first workspace needs it. */
export function chooseRuntime(choice: RuntimeChoice): SessionRuntime {
  const { kind, clock } = choice
  return createOnDemandRuntime({
    kind,
    clock,
    objection: async () => agentMissing(choice.program) ?? (await objections[kind](choice)),
    make: () => makers[kind](choice),
  })
}

/** What starts a sandbox beside bubblewrap, where the launcher expects it. */
const launcherPrograms = ['/bin/bash', '/usr/bin/prlimit', '/usr/bin/setpriv', '/usr/bin/unshare'] as const

const objections: Record<RuntimeChoice['kind'], (choice: RuntimeChoice) => Promise<string | null>> = {
  async process({ path }) {
    if (process.platform !== 'linux')
      return 'processes can be isolated on Linux only; set ATELIER_RUNTIME=docker, or none if only you use this server'
    if (findProgram('bwrap', path) === undefined)
      return 'bubblewrap is not installed: `apt-get install bubblewrap`, then start the workspace again'
    const missing = launcherPrograms.filter((file) => !existsSync(file))
    if (missing.length === 0) return null
    return `${missing.join(', ')} not found: \`apt-get install bash util-linux\`, then start the workspace again`
  },
  docker: async () => null,
  async none({ countUsers }) {
    if ((await countUsers()) <= 1) return null
    return 'more than one person has an account, and ATELIER_RUNTIME=none protects nobody from another'
  },
}

const makers: Record<RuntimeChoice['kind'], (choice: RuntimeChoice) => Promise<SessionRuntime>> = {
  async process(choice) {
    const { createProcessRuntime } = await import('./process-runtime.ts')
    const bubblewrap = findProgram('bwrap', choice.path) ?? 'bwrap'
    return createProcessRuntime({ ...choice, bubblewrap, openEgress: await egress(choice) })
  },
  async docker(choice) {
    const { createDockerRuntime } = await import('./docker-runtime.ts')
    const { image, socketPath } = choice.docker
    return createDockerRuntime({
      ...choice,
      image,
      ...(socketPath === undefined ? {} : { socketPath }),
      openEgress: await egress(choice),
    })
  },
  async none(choice) {
    const { createNoneRuntime } = await import('./none-runtime.ts')
    // The configuration refuses other listeners, and who has an account is looked at before every start.
    return createNoneRuntime({
      ...choice,
      facts: { configured: true, singleUser: true, loopbackOnly: true },
    })
  },
}

async function egress({ logger }: RuntimeChoice) {
  const { createEgress } = await import('./egress-proxy.ts')
  return createEgress({ logger })
}

function agentMissing({ directory }: AgentProgram): string | null {
  if (existsSync(join(directory, 'agent.mjs'))) return null
  return 'the program that runs inside workspaces is not built: `node packages/agent/build.mjs`'
}

function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, name))
    .find((file) => existsSync(file))
}
