import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { AppError } from '../../base/app-error.ts'
import type { Clock } from '../../base/clock.ts'
import type {
  RuntimeRef,
  RuntimeStatus,
  SelfTestReport,
  SessionRuntime,
  SessionUsage,
  WorkspaceSpec,
} from './session-runtime.ts'

/** One sandbox that runs. */
export interface Session {
  readonly stream: Duplex
  /** resolves when nothing of it is left, with the reason */
  readonly ended: Promise<string>
  kill(): void
  usage(): SessionUsage | null
}

/** What differs between runtimes; the states and their order are the same for all. */
export interface SessionDriver extends AsyncDisposable {
  readonly kind: SessionRuntime['kind']
  selfTest(): Promise<SelfTestReport>
  prepare(workspaceId: string): Promise<void>
  launch(spec: WorkspaceSpec, epoch: bigint): Promise<Session>
  remove(workspaceId: string): Promise<void>
}

/** An agent that has not spoken by then has failed to start. */
const readyMs = 15_000

/** A kill that has not worked by then is reported, not waited for any longer. */
const killMs = 10_000

/** Ids become names of directories, containers and cgroups. */
const idPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

type State =
  | { name: 'stopped'; reason: string | null }
  | { name: 'starting'; since: number; done: Promise<void> }
  | { name: 'running'; since: number; epoch: bigint; session: Session; dialled: boolean }
  | { name: 'stopping'; since: number; done: Promise<void> }
  | { name: 'failed'; since: number; reason: string }

interface Entry {
  spec: WorkspaceSpec
  state: State
  lastEpoch: bigint
}

export function createDrivenRuntime({
  driver,
  clock,
}: {
  driver: SessionDriver
  clock: Clock
}): SessionRuntime {
  const entries = new Map<string, Entry>()
  let tested: Promise<SelfTestReport> | undefined

  function selfTest(): Promise<SelfTestReport> {
    tested ??= driver.selfTest()
    return tested
  }

  function entryOf({ workspaceId }: RuntimeRef): Entry {
    const entry = entries.get(workspaceId)
    if (entry === undefined)
      throw new AppError('NOT_FOUND', `workspace ${workspaceId} is not known to this runtime`)
    return entry
  }

  async function begin(entry: Entry, epoch: bigint): Promise<void> {
    const report = await selfTest()
    if (!report.passed) throw refused(report)
    const session = await driver.launch(entry.spec, epoch)
    await ready(session)
    const state: State = { name: 'running', since: clock(), epoch, session, dialled: false }
    entry.state = state
    void session.ended.then((reason) => {
      if (entry.state === state) entry.state = { name: 'failed', since: clock(), reason }
    })
  }

  async function halt(entry: Entry, session: Session, graceMs: number): Promise<void> {
    // Whoever ended before we asked has a reason worth keeping.
    const endedByItself = session.stream.readableEnded
    session.stream.end()
    if (!(await within(session.ended, graceMs))) session.kill()
    if (await within(session.ended, killMs))
      entry.state = { name: 'stopped', reason: endedByItself ? await session.ended : null }
    else entry.state = { name: 'failed', since: clock(), reason: 'the sandbox did not end when killed' }
  }

  async function stop(ref: RuntimeRef, graceMs: number): Promise<void> {
    const entry = entryOf(ref)
    if (entry.state.name === 'starting') await entry.state.done.catch(() => undefined)
    const { state } = entry
    if (state.name === 'stopping') return await state.done
    if (state.name === 'failed') entry.state = { name: 'stopped', reason: state.reason }
    if (state.name !== 'running') return
    const done = halt(entry, state.session, graceMs)
    entry.state = { name: 'stopping', since: clock(), done }
    await done
  }

  return {
    kind: driver.kind,
    selfTest,
    async create(spec) {
      const { workspaceId } = spec
      if (!idPattern.test(workspaceId)) throw new AppError('INVALID_REQUEST', 'not an id of a workspace')
      await driver.prepare(workspaceId)
      const known = entries.get(workspaceId)
      if (known === undefined)
        entries.set(workspaceId, { spec, state: { name: 'stopped', reason: null }, lastEpoch: 0n })
      else known.spec = spec
      return { workspaceId }
    },
    async start(ref, epoch) {
      const entry = entryOf(ref)
      if (entry.state.name === 'stopping') await entry.state.done
      const { state } = entry
      if (epoch < entry.lastEpoch)
        throw new AppError('CONFLICT', `epoch ${epoch} is older than ${entry.lastEpoch}`)
      if (state.name === 'starting') return await state.done
      if (state.name === 'running' && state.epoch === epoch) return
      if (state.name === 'running') throw new AppError('CONFLICT', 'the workspace runs with another epoch')
      entry.lastEpoch = epoch
      const done = begin(entry, epoch)
      entry.state = { name: 'starting', since: clock(), done }
      try {
        await done
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'unknown failure'
        entry.state = { name: 'failed', since: clock(), reason }
        throw error instanceof AppError
          ? error
          : new AppError('SERVICE_UNAVAILABLE', reason, { cause: error })
      }
    },
    stop,
    async destroy(ref) {
      await stop(ref, 0)
      await driver.remove(ref.workspaceId)
      entries.delete(ref.workspaceId)
    },
    async status(ref) {
      return describe(entryOf(ref).state)
    },
    async dial(ref) {
      const { state } = entryOf(ref)
      if (state.name !== 'running')
        throw new AppError('SERVICE_UNAVAILABLE', `the workspace is ${state.name}`)
      if (state.dialled) throw new AppError('CONFLICT', 'the stream to the agent is taken')
      state.dialled = true
      return state.session.stream
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled([...entries.keys()].map((workspaceId) => stop({ workspaceId }, 2000)))
      await driver[Symbol.asyncDispose]()
    },
  }
}

function describe(state: State): RuntimeStatus {
  switch (state.name) {
    case 'stopped':
      return { state: 'stopped', reason: state.reason }
    case 'failed':
      return { state: 'failed', since: state.since, reason: state.reason }
    case 'running':
      return { state: 'running', since: state.since, epoch: state.epoch, usage: state.session.usage() }
    default:
      return { state: state.name, since: state.since }
  }
}

/** The agent speaks first, so its first bytes say that it is up; they stay in the stream for whoever dials. */
async function ready(session: Session): Promise<void> {
  const spoken = once(session.stream, 'readable').then(() => session.stream.readableLength > 0)
  spoken.catch(() => undefined)
  const outcome = await Promise.race([spoken, session.ended, expire(readyMs)])
  if (outcome === true) return
  session.kill()
  const reason =
    typeof outcome === 'string'
      ? outcome
      : (await Promise.race([session.ended, expire(killMs)])) || 'no reason known'
  throw new AppError('SERVICE_UNAVAILABLE', `the agent did not start: ${reason}`)
}

async function within(ended: Promise<string>, milliseconds: number): Promise<boolean> {
  return (await Promise.race([ended, expire(milliseconds)])) !== undefined
}

function expire(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), milliseconds).unref()
  })
}

function refused(report: SelfTestReport): AppError {
  const broken = report.probes.filter(({ kind, held }) => kind === 'isolation' && !held)
  const names = broken.map(({ name, detail }) => `${name} (${detail})`).join('; ')
  return new AppError('SERVICE_UNAVAILABLE', `workspaces are not isolated on this machine: ${names}`)
}
