import {
  encodeTerminalServerMessage,
  socketCloseCodes,
  type TerminalExit,
  type TerminalRole,
  type TerminalServerMessage,
  terminalFlow,
} from '@atelier/contract'
import type { Clock } from '../../base/clock.ts'
import type { TerminalRecorder } from './terminal-recorder.ts'
import type { TerminalSnapshot } from './terminal-screens.ts'

/** Output in one message. */
const messageBytes = 64 * 1024

/** One connection that looks at a terminal. */
export interface ViewerConnection {
  readonly userId: string
  send(frame: Uint8Array): void
  /** bytes sent that have not left the server */
  buffered(): number
  /** Stops and goes on taking what the client says. */
  pause(): void
  resume(): void
  close(code: number, reason: string): void
}

/** How far a connection has come in the output of its terminal, and how much it may be sent. */
export interface TerminalViewer {
  readonly connection: ViewerConnection
  role: TerminalRole
  /** Sends what there is as far as the client keeps up. */
  pump(): void
  /** False if so much was never sent. */
  acknowledge(bytes: number): boolean
  tell(message: TerminalServerMessage): void
  /** Says so where it has come to this point in the output, and gives it a snapshot where it is behind. */
  tellHere(message: TerminalServerMessage): void
  /** Sends the rest, then this, then closes. */
  finish(exit: TerminalExit): void
  lagging(): boolean
  /** how long it has been lagging without any acknowledgement, in milliseconds */
  stuckFor(): number
  /** most bytes that were ever sent and not acknowledged */
  peak(): number
}

export interface TerminalViewerDeps {
  connection: ViewerConnection
  recorder: TerminalRecorder
  /** where it goes on from; undefined: it needs a snapshot */
  from: number | undefined
  snapshot(): Promise<TerminalSnapshot>
  /** what the program calls itself now */
  title(): string
  clock: Clock
  /** it lags, or does not any more */
  onChange(): void
}

export function createTerminalViewer(deps: TerminalViewerDeps): TerminalViewer {
  const { connection, recorder, clock } = deps
  let position = deps.from
  let unacknowledged = 0
  let peak = 0
  let laggingSince: number | undefined
  let snapshot: 'none' | 'coming' | 'outdated' = 'none'
  let exit: TerminalExit | undefined
  let finished = false
  let shownTitle = ''

  const tell = (message: TerminalServerMessage) => connection.send(encodeTerminalServerMessage(message))

  function sent(bytes: number): void {
    unacknowledged += bytes
    peak = Math.max(peak, unacknowledged)
  }

  /** What has been acknowledged counts only once it has left: who acknowledges ahead of time gains nothing. */
  function keepsUp(): boolean {
    const outstanding = Math.max(unacknowledged, connection.buffered())
    const limit = laggingSince === undefined ? terminalFlow.highBytes : terminalFlow.lowBytes
    const lags = outstanding > limit
    if (lags === (laggingSince !== undefined)) return !lags
    laggingSince = lags ? clock() : undefined
    deps.onChange()
    return !lags
  }

  function pump(): void {
    while (snapshot === 'none' && !finished && keepsUp()) {
      showTitle()
      if (position === undefined || position < recorder.start()) {
        requestSnapshot()
        return
      }
      if (position === recorder.end()) {
        leave()
        return
      }
      const bytes = recorder.read(position, messageBytes)
      tell({ type: 'data', seq: position, bytes })
      position += bytes.length
      sent(bytes.length)
    }
  }

  /** Only to those who keep up: a program can change its title faster than anybody reads. */
  function showTitle(): void {
    if (deps.title() === shownTitle) return
    shownTitle = deps.title()
    tell({ type: 'title', title: shownTitle })
  }

  function requestSnapshot(): void {
    snapshot = 'coming'
    void deps
      .snapshot()
      // Without a screen there is still the end of the output.
      .catch(() => undefined)
      .then(show)
  }

  function show(shot: TerminalSnapshot | undefined): void {
    const outdated = snapshot === 'outdated'
    snapshot = 'none'
    if (outdated) position = undefined
    else if (shot) {
      tell({ type: 'snapshot', ...shot })
      sent(shot.bytes.length)
      position = shot.seq
    } else position = recorder.start()
    pump()
  }

  function leave(): void {
    if (!exit) return
    finished = true
    tell({ type: 'exit', ...exit })
    connection.close(socketCloseCodes.done, 'the terminal has ended')
  }

  return {
    connection,
    role: 'viewer',
    pump,
    tell,
    tellHere(message) {
      if (snapshot !== 'none') snapshot = 'outdated'
      else if (position === recorder.end()) tell(message)
      else position = undefined
    },
    acknowledge(bytes) {
      if (bytes > unacknowledged) return false
      unacknowledged -= bytes
      if (laggingSince !== undefined) laggingSince = clock()
      pump()
      return true
    },
    finish(how) {
      exit = how
      pump()
    },
    lagging: () => laggingSince !== undefined,
    stuckFor: () => (laggingSince === undefined ? 0 : clock() - laggingSince),
    peak: () => peak,
  }
}
