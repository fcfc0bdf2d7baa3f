import { Worker } from 'node:worker_threads'
import type { FromScreens, ToScreens } from './screen-messages.ts'
import type { ScreenSize } from './screen-model.ts'

/** Megabytes of objects in the thread; the cells of screens are counted apart from them. */
const threadMegabytes = 1024

/** A thread that has failed is not started again sooner: one that cannot start would be started for ever. */
const restartMilliseconds = 1_000

export interface TerminalSnapshot extends ScreenSize {
  /** position in the output that the snapshot shows */
  seq: number
  bytes: Uint8Array
}

export interface ScreenEvents {
  /** the program has asked; this is to be typed into it */
  onReply(text: string): void
  onTitle(title: string): void
  /** the backlog is smaller than it was, or a resize is done */
  onProgress(): void
}

/** The screen of one terminal, as the server knows it. */
export interface TerminalScreen extends Disposable {
  /** `end`: position after these bytes; `pending`: the sequence they end in the middle of. The bytes are copied. */
  write(bytes: Uint8Array, place: { end: number; pending: Uint8Array }): void
  resize(size: ScreenSize): void
  /** Rejects when the screen is closed or lost meanwhile. */
  snapshot(): Promise<TerminalSnapshot>
  /** bytes written that have not been worked off */
  backlog(): number
  /** whether a resize has not been done yet */
  resizing(): boolean
}

/**
 * The screens of all terminals, in a thread that starts with the first of them. Terminals outlive the thread: should it
 * fail, another one takes over with empty screens.
 */
export interface TerminalScreens extends AsyncDisposable {
  open(size: ScreenSize, events: ScreenEvents): TerminalScreen
}

interface Opened {
  readonly id: number
  readonly events: ScreenEvents
  size: ScreenSize
  /** position after what was written */
  end: number
  backlog: number
  resizes: number
  readonly snapshots: Map<number, PromiseWithResolvers<TerminalSnapshot>>
}

export function createTerminalScreens({
  logger,
}: {
  logger: { error(fields: object, message: string): void }
}): TerminalScreens {
  const opened = new Map<number, Opened>()
  let thread: Worker | undefined
  let endedAt = Number.NEGATIVE_INFINITY
  let lastId = 0
  let disposed = false

  /** False where there is no thread to say it to. */
  function say(message: ToScreens, transfer: ArrayBuffer[] = []): boolean {
    if (!thread && !start()) return false
    thread?.postMessage(message, transfer)
    return true
  }

  function start(): boolean {
    if (disposed || performance.now() - endedAt < restartMilliseconds) return false
    const started = new Worker(new URL('./screen-thread.ts', import.meta.url), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: threadMegabytes },
    })
    started.unref()
    started.on('message', hear)
    started.on('error', (error) => logger.error({ err: error }, 'the thread of terminal screens failed'))
    started.once('exit', lose)
    thread = started
    for (const { id, size, end } of opened.values()) started.postMessage({ kind: 'open', id, end, ...size })
    return true
  }

  function lose(): void {
    thread = undefined
    endedAt = performance.now()
    for (const screen of opened.values()) {
      screen.backlog = 0
      screen.resizes = 0
      failSnapshots(screen, new Error('the thread of terminal screens has ended'))
      screen.events.onProgress()
    }
  }

  function hear(message: FromScreens): void {
    const screen = opened.get(message.id)
    if (!screen) return
    if (message.kind === 'reply') screen.events.onReply(message.text)
    else if (message.kind === 'title') screen.events.onTitle(message.title)
    else if (message.kind === 'snapshot') {
      screen.snapshots.get(message.request)?.resolve(message)
      screen.snapshots.delete(message.request)
    } else {
      if (message.kind === 'worked') screen.backlog -= message.bytes
      else screen.resizes -= 1
      screen.events.onProgress()
    }
  }

  return {
    open(size, events) {
      lastId += 1
      const screen = { id: lastId, events, size, end: 0, backlog: 0, resizes: 0, snapshots: new Map() }
      const known = thread !== undefined
      opened.set(screen.id, screen)
      // A thread that starts now opens it by itself.
      if (known) say({ kind: 'open', id: screen.id, end: 0, ...size })
      else start()
      return createScreen(screen, { say, forget: () => opened.delete(screen.id) })
    },
    async [Symbol.asyncDispose]() {
      disposed = true
      await thread?.terminate()
    },
  }
}

function createScreen(
  screen: Opened,
  { say, forget }: { say(message: ToScreens, transfer?: ArrayBuffer[]): boolean; forget(): boolean },
): TerminalScreen {
  const { id } = screen
  let requests = 0
  return {
    write(bytes, { end, pending }) {
      screen.end = end
      // Exactly these bytes: a message would take along the whole buffer that they are a view of.
      const copy = new Uint8Array(bytes)
      const message = {
        kind: 'write',
        id,
        bytes: copy,
        end,
        pending: pending.length > 0 ? pending : null,
      } as const
      if (say(message, [copy.buffer])) screen.backlog += bytes.length
    },
    resize(size) {
      screen.size = size
      if (say({ kind: 'resize', id, ...size })) screen.resizes += 1
    },
    snapshot() {
      requests += 1
      const answer = Promise.withResolvers<TerminalSnapshot>()
      screen.snapshots.set(requests, answer)
      if (!say({ kind: 'snapshot', id, request: requests }))
        failSnapshots(screen, new Error('there is no thread of terminal screens'))
      return answer.promise
    },
    backlog: () => screen.backlog,
    resizing: () => screen.resizes > 0,
    [Symbol.dispose]() {
      if (!forget()) return
      failSnapshots(screen, new Error('the terminal is closed'))
      say({ kind: 'close', id })
    },
  }
}

function failSnapshots({ snapshots }: Opened, reason: Error): void {
  for (const { reject } of snapshots.values()) reject(reason)
  snapshots.clear()
}
