import type { ActivityKind } from '@atelier/contract'
import { AppError, notFound } from '../../base/app-error.ts'
import type { Clock } from '../../base/clock.ts'
import { type AgentClient, connectAgent } from '../../platform/runtime/agent-client.ts'
import type { SessionRuntime, WorkspaceSpec } from '../../platform/runtime/session-runtime.ts'
import type { EpochStore } from './epoch-store.ts'

/** How long a stop waits for the processes of a workspace to end by themselves. */
const stopGraceMilliseconds = 3_000

/** The sandbox of one workspace as this node observes it. */
export type SessionPhase =
  | { state: 'stopped' }
  | { state: 'starting'; ready: Promise<AgentClient> }
  | { state: 'running'; client: AgentClient }
  | { state: 'stopping'; done: Promise<void> }
  | { state: 'failed' }

/** Times are milliseconds since the epoch. */
export interface SessionView {
  readonly phase: SessionPhase
  readonly desired: 'running' | 'stopped'
  /** why it is in this phase, in words */
  readonly reason: string
  readonly since: number
  /** the last of each kind; what goes on now is asked of the agent */
  readonly activity: ReadonlyMap<ActivityKind, { at: number; detail: string }>
}

export interface WorkspaceSession {
  readonly workspaceId: string
  view(): SessionView
  note(activity: { kind: ActivityKind; detail: string }): void
  /** One start at a time; everybody who asks meanwhile waits for it. */
  ready(reason: string): Promise<AgentClient>
  /** Resolves when it is stopped, or when somebody has asked for it again meanwhile. */
  stop(reason: string): Promise<void>
  /** Nobody gets it any more: `ready` rejects with NOT_FOUND. */
  retire(): void
}

export interface WorkspaceSessionDeps {
  runtime: SessionRuntime
  epochs: EpochStore
  specOf(workspaceId: string): WorkspaceSpec
  clock: Clock
  logger: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
  /** Makes the directory ready; nobody uses the agent before. */
  prepare?(workspaceId: string, client: AgentClient): Promise<void>
  onStart(workspaceId: string, client: AgentClient): void
  /** The agent is gone, or about to go; comes once for each `onStart`. */
  onEnd(workspaceId: string, reason: string): void
}

/** When the last thing happened in a session; its start counts. */
export function lastActivity({ since, activity }: SessionView): number {
  return Math.max(since, ...[...activity.values()].map(({ at }) => at))
}

export function createWorkspaceSession(workspaceId: string, deps: WorkspaceSessionDeps): WorkspaceSession {
  const { runtime, clock, logger } = deps
  const ref = { workspaceId }
  const activity = new Map<ActivityKind, { at: number; detail: string }>()
  let phase: SessionPhase = { state: 'stopped' }
  let desired: SessionView['desired'] = 'stopped'
  let reason = 'not started yet'
  let since = clock()
  let retired = false

  function move(next: SessionPhase, why: string): void {
    phase = next
    reason = why
    since = clock()
    logger.info({ workspaceId, state: next.state, reason: why }, 'workspace session')
  }

  const isCurrent = (candidate: SessionPhase) => phase === candidate

  function begin(why: string, before: Promise<unknown>): Promise<AgentClient> {
    const ready = before.then(start)
    move({ state: 'starting', ready }, why)
    // Those who wait get the rejection themselves; this keeps it from being unhandled when nobody does.
    ready.catch(() => undefined)
    return ready
  }

  async function start(): Promise<AgentClient> {
    try {
      const epoch = await deps.epochs.next(workspaceId)
      await runtime.create(deps.specOf(workspaceId))
      // What an agent that broke off has left behind.
      await runtime.stop(ref, 0)
      await runtime.start(ref, epoch)
      const client = await connectPrepared()
      move({ state: 'running', client }, reason)
      void client.closed.then((closed) => lost(client, closed.kind === 'broken' ? closed.reason : 'it ended'))
      deps.onStart(workspaceId, client)
      return client
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      move({ state: 'failed' }, message)
      if (error instanceof AppError) throw error
      throw new AppError('SERVICE_UNAVAILABLE', `The workspace does not start: ${message}`, { cause: error })
    }
  }

  async function connectPrepared(): Promise<AgentClient> {
    const client = await connectAgent({ stream: await runtime.dial(ref) })
    try {
      await deps.prepare?.(workspaceId, client)
      return client
    } catch (error) {
      await client[Symbol.asyncDispose]()
      throw error
    }
  }

  function lost(client: AgentClient, why: string): void {
    if (phase.state !== 'running' || phase.client !== client) return
    move({ state: 'failed' }, `the agent is gone: ${why}; the next use starts it again`)
    deps.onEnd(workspaceId, `the agent is gone: ${why}`)
    cleanUp().catch((error: unknown) =>
      logger.warn({ err: error, workspaceId }, 'a lost sandbox did not stop'),
    )
  }

  /** An agent that only closed its stream would go on without anybody who could stop it. */
  async function cleanUp(): Promise<void> {
    const failed = phase
    await runtime.stop(ref, stopGraceMilliseconds)
    const observed = await runtime.status(ref)
    if (isCurrent(failed) && observed.state === 'stopped' && observed.reason !== null)
      reason = `the agent is gone: ${observed.reason}; the next use starts it again`
  }

  async function halt(client: AgentClient): Promise<void> {
    await client[Symbol.asyncDispose]()
    await runtime.stop(ref, stopGraceMilliseconds)
  }

  async function stop(why: string): Promise<void> {
    desired = 'stopped'
    if (phase.state === 'starting') await phase.ready.catch(() => undefined)
    if (phase.state === 'stopping') return phase.done
    // Whoever asked for it last decides.
    if (desired !== 'stopped') return
    if (phase.state === 'failed') move({ state: 'stopped' }, why)
    if (phase.state !== 'running') return
    deps.onEnd(workspaceId, why)
    const done = halt(phase.client)
    const stopping: SessionPhase = { state: 'stopping', done }
    move(stopping, why)
    try {
      await done
      if (isCurrent(stopping)) {
        activity.clear()
        move({ state: 'stopped' }, why)
      }
    } catch (error) {
      if (isCurrent(stopping)) move({ state: 'failed' }, `stopping failed: ${(error as Error).message}`)
      throw error
    }
  }

  return {
    workspaceId,
    view: () => ({ phase, desired, reason, since, activity }),
    note: ({ kind, detail }) => void activity.set(kind, { at: clock(), detail }),
    ready(why) {
      if (retired) return Promise.reject(notFound('Workspace'))
      desired = 'running'
      if (phase.state === 'running') return Promise.resolve(phase.client)
      if (phase.state === 'starting') return phase.ready
      return begin(why, phase.state === 'stopping' ? phase.done.catch(() => undefined) : Promise.resolve())
    },
    stop,
    retire() {
      retired = true
    },
  }
}
