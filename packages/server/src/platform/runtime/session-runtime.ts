import type { Duplex } from 'node:stream'

/** What stands between a workspace and the host. `gvisor` and `microvm` are for runtimes to come. */
export type Isolation = 'none' | 'namespace' | 'container' | 'gvisor' | 'microvm'

/** Bounds of one workspace. What a machine cannot enforce is named by the self-test, never silently dropped. */
export interface WorkspaceLimits {
  /** memory of all processes together, the private /tmp included */
  memoryBytes: number
  /** processes and threads */
  processes: number
  /** one file */
  fileBytes: number
  /** descriptors of one process */
  openFiles: number
  /** the private /tmp */
  tmpBytes: number
  /** processor time, in cores */
  cpus: number
}

export const defaultWorkspaceLimits: WorkspaceLimits = {
  memoryBytes: 2 * 1024 ** 3,
  processes: 512,
  fileBytes: 2 * 1024 ** 3,
  openFiles: 16_384,
  tmpBytes: 512 * 1024 ** 2,
  cpus: 2,
}

export interface WorkspaceSpec {
  workspaceId: string
  limits: WorkspaceLimits
  /** hosts the workspace may reach through the egress proxy; null: no network at all */
  egress: { allow: readonly string[] } | null
}

/** A workspace this runtime knows. */
export interface RuntimeRef {
  readonly workspaceId: string
}

/** What is observed, not what is wanted. Times are milliseconds since the epoch. */
export type RuntimeStatus =
  | { state: 'stopped'; reason: string | null }
  | { state: 'starting'; since: number }
  | { state: 'running'; since: number; epoch: bigint; usage: SessionUsage | null }
  | { state: 'stopping'; since: number }
  | { state: 'failed'; since: number; reason: string }

/** As the kernel counts it for the whole sandbox; null where it does not. */
export interface SessionUsage {
  memoryBytes: number | null
  processes: number | null
}

export interface SelfTestReport {
  /** false: something the isolation promises did not hold, and no workspace will be started */
  passed: boolean
  isolation: Isolation
  /** limits that were exceeded on purpose and held */
  limits: string[]
  /** what this machine cannot enforce, and why */
  missing: string[]
  probes: ProbeResult[]
}

export interface ProbeResult {
  name: string
  /** `isolation` must hold; a `limit` that does not is reported as missing */
  kind: 'isolation' | 'limit'
  held: boolean
  detail: string
}

/**
 * Starts and stops the agents of workspaces. How an agent is isolated is the runtime's affair; what it does is the
 * agent protocol's, spoken over the one stream `dial` gives. Rejections are AppErrors.
 */
export interface SessionRuntime extends AsyncDisposable {
  readonly kind: 'process' | 'docker' | 'kubernetes' | 'none'
  /** Attacks a sandbox of its own. The answer is remembered; `start` refuses to work without a passed one. */
  selfTest(): Promise<SelfTestReport>
  /** Makes the workspace's directory if it is missing, and takes the limits that hold from the next start. */
  create(spec: WorkspaceSpec): Promise<RuntimeRef>
  /**
   * Resolves when the agent has spoken; at once if it runs with this epoch already. A lower epoch than the last is
   * CONFLICT; an agent that does not come up is SERVICE_UNAVAILABLE with its last words.
   */
  start(ref: RuntimeRef, epoch: bigint): Promise<void>
  /** Ends the stream, waits, then kills. Resolves when nothing of the sandbox is left. */
  stop(ref: RuntimeRef, graceMs: number): Promise<void>
  /** Stops it and removes its directory. */
  destroy(ref: RuntimeRef): Promise<void>
  status(ref: RuntimeRef): Promise<RuntimeStatus>
  /**
   * The stream to the agent, once per start: the agent lives as long as it is open. CONFLICT if it was taken,
   * SERVICE_UNAVAILABLE if the workspace is not running.
   */
  dial(ref: RuntimeRef): Promise<Duplex>
}

/** The part of a logger that runtimes use. */
export interface RuntimeLogger {
  warn(data: object, message: string): void
}
