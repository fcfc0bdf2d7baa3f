import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import Docker from 'dockerode'
import { z } from 'zod'
import { type Clock, systemClock } from '../../base/clock.ts'
import { divideDockerStream } from './docker-stream.ts'
import { createDrivenRuntime, type Session } from './driven-runtime.ts'
import type { OpenEgress } from './egress-proxy.ts'
import { agentCommand } from './process-runtime.ts'
import { insidePaths, type SandboxMount, sandboxEnvironment } from './sandbox-arguments.ts'
import { type AgentProgram, programMounts, writeIdentityFiles } from './sandbox-files.ts'
import { runSelfTest } from './self-test.ts'
import type {
  RuntimeLogger,
  SessionRuntime,
  SessionUsage,
  WorkspaceLimits,
  WorkspaceSpec,
} from './session-runtime.ts'
import { openWayOut, type WayOut } from './way-out.ts'
import { createWorkspaceDirectories, type WorkspaceDirectory } from './workspace-directories.ts'

export interface DockerRuntimeOptions {
  /** where workspaces live; the daemon must see the same files under the same path */
  directory: string
  program: AgentProgram
  /** a glibc system with bash and what users are to find there; Node comes from the server */
  image: string
  /** the daemon's socket; the library's default where absent */
  socketPath?: string
  openEgress: OpenEgress
  logger: RuntimeLogger
  clock?: Clock
}

/** Runs every workspace as a container. The agent's stream is the container's standard input and output. */
export function createDockerRuntime(options: DockerRuntimeOptions): SessionRuntime {
  const docker = new Docker(options.socketPath === undefined ? {} : { socketPath: options.socketPath })
  const directories = createWorkspaceDirectories({ directory: join(options.directory, 'workspaces') })
  const launch = (spec: WorkspaceSpec, command: string[]) =>
    launchContainer({ ...options, docker }, { spec, command, directories })
  const driver = {
    kind: 'docker' as const,
    async selfTest() {
      await removeLeftovers(docker, options.directory)
      const canEnforce = await enforceable(docker)
      const missing = missingHere(directories.users.separate, canEnforce)
      return await runSelfTest({
        isolation: 'container',
        directories,
        launch,
        missing,
        canEnforce,
        transport: ['--stdio'],
      })
    },
    prepare: async (workspaceId: string) => void (await directories.prepare(workspaceId)),
    launch: (spec: WorkspaceSpec, epoch: bigint) => launch(spec, agentCommand(spec, epoch, ['--stdio'])),
    remove: directories.remove,
    [Symbol.asyncDispose]: async () => undefined,
  }
  return createDrivenRuntime({ driver, clock: options.clock ?? systemClock })
}

/** On every container of one server, so that those a crash has left can be found. */
const ownerLabel = 'atelier.owner'

function ownerOf(directory: string): string {
  return createHash('sha256').update(directory).digest('hex').slice(0, 12)
}

async function removeLeftovers(docker: Docker, directory: string): Promise<void> {
  const filters = { label: [`${ownerLabel}=${ownerOf(directory)}`] }
  for (const { Id } of await docker.listContainers({ all: true, filters }))
    await removeContainer(docker.getContainer(Id))
}

/** A removal that has begun already, by whomever, is waited for. */
async function removeContainer(container: Docker.Container): Promise<void> {
  try {
    await container.remove({ force: true })
  } catch (error) {
    if (isGone(error)) return
    if (!(error instanceof Error && 'statusCode' in error && error.statusCode === 409)) throw error
    const abortSignal = AbortSignal.timeout(removalMs)
    await container.wait({ condition: 'removed', abortSignal }).catch((failure: unknown) => {
      if (!isGone(failure)) throw failure
    })
  }
}

const removalMs = 30_000

function isGone(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && error.statusCode === 404
}

interface LaunchDeps extends DockerRuntimeOptions {
  docker: Docker
}

interface LaunchRequest {
  spec: WorkspaceSpec
  command: string[]
  directories: { prepare(id: string): Promise<WorkspaceDirectory> }
}

async function launchContainer(
  deps: LaunchDeps,
  { spec, command, directories }: LaunchRequest,
): Promise<Session> {
  const place = await directories.prepare(spec.workspaceId)
  const wayOut = await openWayOut(deps.openEgress, spec, place)
  try {
    const container = await deps.docker.createContainer(
      containerOptions(deps, { spec, command, place, wayOut }),
    )
    const attached = await container.attach({
      stream: true,
      hijack: true,
      stdin: true,
      stdout: true,
      stderr: true,
    })
    if (!('resume' in attached) || !('write' in attached)) throw new TypeError('the daemon gave no stream')
    const divided = divideDockerStream(attached as unknown as Duplex)
    await container.start()
    return sessionOf(container, divided, { logger: deps.logger, wayOut })
  } catch (error) {
    await wayOut[Symbol.asyncDispose]()
    throw error
  }
}

function sessionOf(
  container: Docker.Container,
  { stream, lastWords }: ReturnType<typeof divideDockerStream>,
  { logger, wayOut }: { logger: RuntimeLogger; wayOut: WayOut },
): Session {
  let usage: SessionUsage | null = null
  const sampling = setInterval(() => {
    container.stats({ stream: false, 'one-shot': true }).then(
      (stats: unknown) => {
        const { memory_stats, pids_stats } = Stats.safeParse(stats).data ?? {}
        usage = { memoryBytes: memory_stats?.usage ?? null, processes: pids_stats?.current ?? null }
      },
      // The container is on its way out; the last sample stays.
      () => undefined,
    )
  }, sampleMs)
  sampling.unref()
  const ended = container.wait().then(
    ({ StatusCode }: { StatusCode: number }) => `it ended with code ${StatusCode}`,
    (error: unknown) => `the daemon lost it: ${error instanceof Error ? error.message : 'unknown failure'}`,
  )
  return {
    stream,
    ended: ended.then(async (how) => {
      clearInterval(sampling)
      await removeContainer(container).catch((error: unknown) => {
        // The next start removes it by its label.
        logger.warn({ error, container: container.id }, 'a container could not be removed')
      })
      await wayOut[Symbol.asyncDispose]()
      return lastWords() === '' ? how : `${how}: ${lastWords()}`
    }),
    kill() {
      // Already gone is as good as killed; `ended` tells.
      container.kill().catch(() => undefined)
    },
    usage: () => usage,
  }
}

const sampleMs = 10_000

/** What is used of the daemon's statistics; a container that is ending has none of it. */
const Stats = z.object({
  memory_stats: z.object({ usage: z.int().optional() }).optional(),
  pids_stats: z.object({ current: z.int().optional() }).optional(),
})

function containerOptions(
  deps: LaunchDeps,
  {
    spec,
    command,
    place,
    wayOut,
  }: { spec: WorkspaceSpec; command: string[]; place: WorkspaceDirectory; wayOut: WayOut },
): Docker.ContainerCreateOptions {
  if (place.user === 0) throw new Error('a workspace never runs as root')
  const { limits } = spec
  const mounts: SandboxMount[] = [
    // Without a network Docker writes no hosts, and programs would not find `localhost`; the host name it does write.
    ...writeIdentityFiles(join(place.run, 'etc'), place.user).filter(
      ({ target }) => target !== '/etc/hostname',
    ),
    ...programMounts(deps.program).mounts,
    { source: place.home, target: insidePaths.home, writable: true },
    ...wayOut.mounts,
  ]
  return {
    Image: deps.image,
    Entrypoint: [],
    Cmd: command,
    Env: Object.entries(sandboxEnvironment()).map(([name, value]) => `${name}=${value}`),
    User: `${place.user}:${place.user}`,
    WorkingDir: insidePaths.home,
    Hostname: 'workspace',
    Labels: { [ownerLabel]: ownerOf(deps.directory), 'atelier.workspace': spec.workspaceId },
    ...{
      OpenStdin: true,
      StdinOnce: true,
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
    },
    NetworkDisabled: true,
    HostConfig: {
      NetworkMode: 'none',
      IpcMode: 'private',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      Init: true,
      // Not Binds: a path with a colon, or one that is missing, would become something else.
      Mounts: mounts.map(({ source, target, writable }) => ({
        Type: 'bind',
        Source: source,
        Target: target,
        ReadOnly: !writable,
      })),
      Tmpfs: { '/tmp': `rw,nosuid,nodev,exec,mode=1777,size=${limits.tmpBytes}` },
      ...resources(limits),
    },
  }
}

function resources(limits: WorkspaceLimits): Docker.HostConfig {
  return {
    Memory: limits.memoryBytes,
    MemorySwap: limits.memoryBytes,
    PidsLimit: limits.processes,
    NanoCpus: Math.round(limits.cpus * 1e9),
    ShmSize: limits.tmpBytes,
    Ulimits: [
      { Name: 'fsize', Soft: limits.fileBytes, Hard: limits.fileBytes },
      { Name: 'nofile', Soft: limits.openFiles, Hard: limits.openFiles },
      { Name: 'core', Soft: 0, Hard: 0 },
    ],
  }
}

async function enforceable(docker: Docker): Promise<('memory' | 'pids' | 'cpu')[]> {
  const info: unknown = await docker.info()
  const has = (name: string) => typeof info === 'object' && info !== null && Reflect.get(info, name) === true
  return [
    ...(has('MemoryLimit') ? ['memory' as const] : []),
    ...(has('PidsLimit') ? ['pids' as const] : []),
    ...(has('CpuCfsQuota') ? ['cpu' as const] : []),
  ]
}

function missingHere(separateUsers: boolean, canEnforce: ('memory' | 'pids' | 'cpu')[]): string[] {
  return [
    ...(separateUsers ? [] : ['a host user for each workspace: the server does not run as root']),
    ...(canEnforce.includes('memory') ? [] : ['a limit on memory: the daemon has none']),
    ...(canEnforce.includes('cpu') ? [] : ['a limit on processor time: the daemon has none']),
    'a limit on disk space as a whole: one file is limited, their sum is not',
  ]
}
