import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AgentClient, connectAgent } from '../../../packages/server/src/platform/runtime/agent-client.ts'
import { createDockerRuntime } from '../../../packages/server/src/platform/runtime/docker-runtime.ts'
import { createEgress, type EgressDeps } from '../../../packages/server/src/platform/runtime/egress-proxy.ts'
import { createProcessRuntime } from '../../../packages/server/src/platform/runtime/process-runtime.ts'
import {
  defaultWorkspaceLimits,
  type RuntimeRef,
  type SessionRuntime,
  type WorkspaceSpec,
} from '../../../packages/server/src/platform/runtime/session-runtime.ts'
import { builtAgent } from './agent-program.ts'
import { noDockerDaemon, startDockerDaemon } from './docker-daemon.ts'

/** A runtime under test with its directory; closing it leaves nothing on the machine. */
export interface RuntimeSite extends AsyncDisposable {
  readonly runtime: SessionRuntime
  readonly directory: string
  /** Creates and starts a workspace and connects to its agent. */
  open(workspaceId: string, spec?: Partial<WorkspaceSpec>): Promise<OpenWorkspace>
}

export interface OpenWorkspace {
  readonly ref: RuntimeRef
  readonly agent: AgentClient
}

export interface SiteOptions {
  egress?: Omit<EgressDeps, 'logger'>
  bubblewrap?: string
}

export interface RuntimeKind {
  readonly kind: 'process' | 'docker'
  /** why it cannot be tested here */
  readonly missing: string | undefined
  open(options?: SiteOptions): Promise<RuntimeSite>
}

/** Every runtime that isolates. What is missing on this machine is said on the console, not passed over. */
export const isolatingRuntimes: RuntimeKind[] = [
  { kind: 'process', missing: noBubblewrap(), open: openProcessSite },
  { kind: 'docker', missing: noDockerDaemon(), open: openDockerSite },
]
for (const { kind, missing } of isolatingRuntimes) {
  if (missing !== undefined) console.warn(`the runtime ${kind} is not tested: ${missing}`)
}

const logger = { warn: () => undefined }

/** Why workspaces cannot run as processes here; undefined if they can. */
export function noBubblewrap(): string | undefined {
  if (process.platform !== 'linux') return 'not Linux'
  try {
    execFileSync('bwrap', ['--version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'bubblewrap is not installed'
  }
}

/** Workspaces of the test's own user must be able to reach it, so it is not made with mkdtemp's closed mode. */
function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'atelier-runtime-'))
  execFileSync('chmod', ['755', directory])
  return directory
}

async function openProcessSite({ egress, bubblewrap }: SiteOptions = {}): Promise<RuntimeSite> {
  const directory = makeDirectory()
  const openEgress = createEgress({ logger, ...egress })
  const runtime = createProcessRuntime({
    directory,
    program: builtAgent(),
    openEgress,
    logger,
    ...(bubblewrap === undefined ? {} : { bubblewrap }),
  })
  return siteOf(runtime, directory, async () => undefined)
}

async function openDockerSite({ egress }: SiteOptions = {}): Promise<RuntimeSite> {
  const daemon = await startDockerDaemon()
  const directory = makeDirectory()
  const openEgress = createEgress({ logger, ...egress })
  const { image, socketPath } = daemon
  const runtime = createDockerRuntime({
    directory,
    program: builtAgent(),
    image,
    socketPath,
    openEgress,
    logger,
  })
  return siteOf(runtime, directory, async () => daemon[Symbol.asyncDispose]())
}

function siteOf(runtime: SessionRuntime, directory: string, close: () => Promise<void>): RuntimeSite {
  return {
    runtime,
    directory,
    async open(workspaceId, spec = {}) {
      const ref = await runtime.create({ workspaceId, limits: defaultWorkspaceLimits, egress: null, ...spec })
      await runtime.start(ref, 1n)
      return { ref, agent: await connectAgent({ stream: await runtime.dial(ref) }) }
    },
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]()
      await close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
