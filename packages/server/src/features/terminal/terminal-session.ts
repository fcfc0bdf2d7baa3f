import {
  type Terminal,
  type TerminalClientMessage,
  type TerminalExit,
  terminalFlow,
  terminalLimits,
} from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import type { Clock } from '../../base/clock.ts'
import type { AgentCall } from '../../platform/runtime/agent-call.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'
import { AgentError, appErrorFrom } from '../../platform/runtime/agent-error.ts'
import { createTerminalInput } from './terminal-input.ts'
import { createTerminalOutput } from './terminal-output.ts'
import type { TerminalScreens, TerminalSnapshot } from './terminal-screens.ts'
import { createTerminalViewer, type TerminalViewer, type ViewerConnection } from './terminal-viewer.ts'
import { createTerminalViewers } from './terminal-viewers.ts'

/** Shortest time between two notes that something goes on in a terminal. */
const activityMilliseconds = 1_000

/** An agent answers in milliseconds; one that takes so long will not answer. */
const startMilliseconds = 15_000

/** Times are milliseconds since the epoch. */
type State =
  | { state: 'starting' }
  | { state: 'attached' }
  | { state: 'detached'; since: number }
  | { state: 'exited'; at: number; exit: TerminalExit }

export interface TerminalRequest {
  readonly id: string
  readonly workspaceId: string
  readonly createdBy: string
  readonly command: string[] | undefined
  readonly cwd: string
  readonly cols: number
  readonly rows: number
}

/** What a connection may do once it looks at a terminal. */
export interface Attachment {
  /** False if the message says what cannot be: more acknowledged than was sent. */
  receive(message: TerminalClientMessage): boolean
  detach(): void
}

/** Most that ever waited somewhere, in bytes: what bounds the memory of a terminal. */
export interface TerminalPeaks {
  screenBacklog: number
  unacknowledged: number
  input: number
}

export interface TerminalSession extends Disposable {
  readonly request: TerminalRequest
  describe(): Terminal
  exited(): boolean
  /** when it is closed if nobody attaches; null while somebody looks */
  closesAt(): number | null
  /** Opens it in the workspace; rejects with AppError if it does not come up. */
  start(client: AgentClient): Promise<void>
  /** Throws CONFLICT when too many look already. */
  attach(connection: ViewerConnection, seq: number | undefined): Attachment
  /** Hangs up on what runs in it; who looks is told the reason. */
  end(reason: string): void
  closeStuckViewers(): void
  peaks(): TerminalPeaks
}

export interface TerminalSessionDeps {
  request: TerminalRequest
  screens: TerminalScreens
  /** Notes that something goes on. */
  touch(detail: string): void
  clock: Clock
}

export function createTerminalSession(deps: TerminalSessionDeps): TerminalSession {
  const { request, clock } = deps
  const createdAt = clock()
  const viewers = createTerminalViewers()
  const encoder = new TextEncoder()
  let state: State = { state: 'starting' }
  let call: AgentCall<'terminal.open'> | undefined
  let size = { cols: request.cols, rows: request.rows }
  let wantedSize = size
  /** position in the output where the size changed last */
  let resizedAt = 0
  let title = ''
  let snapshot: Promise<TerminalSnapshot> | undefined
  let touchedAt = Number.NEGATIVE_INFINITY
  let unacknowledgedPeak = 0
  let progress = Promise.withResolvers<void>()

  const screen = deps.screens.open(size, {
    onReply: (text) => input.answer(encoder.encode(text)),
    onTitle: setTitle,
    onProgress() {
      applySize()
      wake()
    },
  })
  const output = createTerminalOutput({ screen })
  const input = createTerminalInput({
    write: (bytes) => call?.write(bytes) ?? Promise.reject(new Error('the terminal has not started')),
    interrupt: () => call?.control({ kind: 'signal', signal: 'SIGINT' }),
    clock,
  })

  /** Whoever waits for room looks again. */
  function wake(): void {
    progress.resolve()
    progress = Promise.withResolvers()
  }

  function touch(detail: string): void {
    if (clock() - touchedAt < activityMilliseconds) return
    touchedAt = clock()
    deps.touch(detail)
  }

  /** Reads the program's output until its end. What is not read holds the program back. */
  async function follow(running: AgentCall<'terminal.open'>, onStarted: () => void): Promise<void> {
    for await (const message of running.messages) {
      if (state.state === 'exited') return
      if (message.kind === 'event') {
        onStarted()
        continue
      }
      output.take(message.bytes)
      viewers.pump()
      touch('output of a terminal')
      while (!isExited() && (output.full() || viewers.allLag())) await progress.promise
    }
    const { exitCode, signal } = await running.result
    output.end()
    exit({ exitCode, signal, reason: null })
  }

  const isExited = () => state.state === 'exited'

  function exit(how: TerminalExit): void {
    if (state.state === 'exited') return
    state = { state: 'exited', at: clock(), exit: how }
    wake()
    viewers.finish(how)
  }

  function setTitle(next: string): void {
    if (next === title) return
    title = next
    viewers.pump()
  }

  /** One at a time: laying out a long screen anew takes a while, and only the last of many sizes matters. */
  function applySize(): void {
    const { cols, rows } = wantedSize
    if (screen.resizing() || isExited() || (cols === size.cols && rows === size.rows)) return
    size = wantedSize
    resizedAt = output.recorder.end()
    call?.control({ kind: 'resize', ...size })
    screen.resize(size)
    viewers.each((viewer) => viewer.tellHere({ type: 'resize', ...size }))
    viewers.pump()
  }

  /** Where a connection that has everything up to `seq` goes on; undefined: with a snapshot. */
  function positionFor(seq: number | undefined): number | undefined {
    const { start, end } = output.recorder
    const from = seq ?? 0
    const near = from >= start() && from <= end() && end() - from <= terminalFlow.tailBytes
    return near && from >= resizedAt ? from : undefined
  }

  /** Those who ask while one is being taken share it. */
  function takeSnapshot(): Promise<TerminalSnapshot> {
    snapshot ??= screen.snapshot().finally(() => {
      snapshot = undefined
    })
    return snapshot
  }

  function leave(viewer: TerminalViewer): void {
    viewers.remove(viewer)
    unacknowledgedPeak = Math.max(unacknowledgedPeak, viewer.peak())
    if (viewers.size() === 0 && state.state === 'attached') state = { state: 'detached', since: clock() }
    wake()
  }

  function receive(viewer: TerminalViewer, message: TerminalClientMessage): boolean {
    if (message.type === 'ack') return viewer.acknowledge(message.bytes)
    if (message.type === 'role') viewers.setRole(viewer, message.role)
    else if (viewer.role !== 'writer') refuse(viewer, message)
    else if (message.type === 'resize') {
      wantedSize = { cols: message.cols, rows: message.rows }
      applySize()
    } else type(viewer, message.bytes)
    return true
  }

  function refuse(viewer: TerminalViewer, { type }: TerminalClientMessage): void {
    // A viewer's own size is its own affair.
    if (type === 'input')
      viewer.tell({ type: 'error', code: 'read-only', message: 'Another connection types in this terminal' })
  }

  function type({ connection }: TerminalViewer, bytes: Uint8Array): void {
    if (isExited()) return
    touch('typing in a terminal')
    const room = input.type(bytes)
    if (!room) return
    connection.pause()
    void room.then(() => connection.resume())
  }

  const closesAt = () => {
    if (state.state === 'detached') return state.since + terminalLimits.detachedMilliseconds
    if (state.state === 'exited') return state.at + terminalLimits.exitedMilliseconds
    return null
  }

  return {
    request,
    exited: isExited,
    closesAt,
    describe: () => ({
      id: request.id,
      workspaceId: request.workspaceId,
      state: state.state,
      title,
      command: request.command ?? null,
      cwd: request.cwd,
      ...size,
      viewers: viewers.size(),
      createdBy: request.createdBy,
      createdAt: iso(createdAt),
      closesAt: state.state === 'attached' ? null : isoOrNull(closesAt()),
      exit: state.state === 'exited' ? state.exit : null,
    }),
    async start(client) {
      if (state.state === 'exited')
        throw new AppError('SERVICE_UNAVAILABLE', `The terminal was ended: ${state.exit.reason}`)
      const { command, cwd, cols, rows } = request
      const opened = client.open('terminal.open', { cwd, cols, rows, ...(command ? { command } : {}) })
      call = opened
      const started = Promise.withResolvers<void>()
      const deadline = setTimeout(() => {
        started.reject(new AppError('TIMEOUT', 'The terminal did not start in time'))
        opened.cancel()
      }, startMilliseconds)
      follow(opened, started.resolve).catch((error: unknown) => {
        started.reject(error)
        exit({ exitCode: null, signal: null, reason: messageOf(error) })
      })
      try {
        await started.promise
      } catch (error) {
        throw error instanceof AgentError ? appErrorFrom(error) : error
      } finally {
        clearTimeout(deadline)
      }
      if (state.state === 'starting')
        state = viewers.size() > 0 ? { state: 'attached' } : { state: 'detached', since: clock() }
    },
    attach(connection, seq) {
      if (viewers.size() >= terminalLimits.viewers)
        throw new AppError(
          'CONFLICT',
          `More than ${terminalLimits.viewers} connections look at this terminal`,
        )
      const viewer = createTerminalViewer({
        connection,
        recorder: output.recorder,
        from: positionFor(seq),
        snapshot: takeSnapshot,
        title: () => title,
        clock,
        onChange: wake,
      })
      viewer.tell({ type: 'resize', ...size })
      viewers.add(viewer)
      if (state.state === 'detached') state = { state: 'attached' }
      viewer.pump()
      if (state.state === 'exited') viewer.finish(state.exit)
      return { receive: (message) => receive(viewer, message), detach: () => leave(viewer) }
    },
    end(reason) {
      call?.cancel()
      exit({ exitCode: null, signal: null, reason })
    },
    closeStuckViewers: viewers.closeStuck,
    peaks() {
      let unacknowledged = unacknowledgedPeak
      viewers.each((viewer) => {
        unacknowledged = Math.max(unacknowledged, viewer.peak())
      })
      return { screenBacklog: output.peak(), unacknowledged, input: input.peak() }
    },
    [Symbol.dispose]() {
      screen[Symbol.dispose]()
    },
  }
}

function iso(time: number): string {
  return new Date(time).toISOString()
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : iso(time)
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500)
}
