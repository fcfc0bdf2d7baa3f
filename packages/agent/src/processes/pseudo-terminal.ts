import { writeSync } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { ReadStream } from 'node:tty'
import type { NativePty } from './native-pty.ts'
import { createOutputBatch } from './output-batch.ts'

/** How long small pieces of output wait for more, so that a busy program makes few frames. */
const gatherMs = 4

/** A terminal that takes no more is tried again after the first time, then after twice as long, up to the longest. */
const firstTryMs = 1
const longestTryMs = 50

/** After the program has ended, output of its background jobs is awaited while it comes at least this often. */
const quietMs = 100

export interface ProcessExit {
  exitCode: number | null
  /** name of the signal that ended it */
  signal: string | null
}

export interface PseudoTerminal {
  readonly pid: number
  /** the next output; null when all of it has been read and the program has ended */
  read(): Promise<Uint8Array | null>
  /** Resolves when the terminal has taken the bytes; at once if the program has ended. */
  write(bytes: Uint8Array): Promise<void>
  resize(cols: number, rows: number): void
  /** resolves when the program has ended, which may be before its output has been read */
  readonly exited: Promise<ProcessExit>
  /** Closes the terminal: the kernel hangs up on every job of its session. */
  close(): void
}

export interface TerminalRequest {
  file: string
  args: string[]
  env: Record<string, string>
  cwd: string
  cols: number
  rows: number
}

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/** Starts a program on a terminal of its own, as leader of a session. */
export function openPseudoTerminal(native: NativePty, request: TerminalRequest): PseudoTerminal {
  const exit = Promise.withResolvers<ProcessExit>()
  let ended = false
  let quiet: NodeJS.Timeout | undefined
  let paused = false
  const environment = Object.entries(request.env).map(([name, value]) => `${name}=${value}`)
  const { file, args, cwd, cols, rows } = request
  const forked = native.fork(
    file,
    args,
    environment,
    cwd,
    cols,
    rows,
    -1,
    -1,
    true,
    '',
    (exitCode, signal) => {
      ended = true
      exit.resolve({ exitCode: signal === 0 ? exitCode : null, signal: signalNames.get(signal) ?? null })
      expectQuiet()
    },
  )
  const batch = createOutputBatch({ gatherMs, room: resume })
  const stream = new ReadStream(forked.fd, {
    onread: { buffer: Buffer.allocUnsafeSlow(64 * 1024), callback: onRead },
  })

  function onRead(length: number, buffer: Uint8Array): boolean {
    paused = !batch.add(buffer.subarray(0, length))
    expectQuiet()
    return !paused
  }

  function resume(): void {
    if (!paused) return
    paused = false
    stream.resume()
    expectQuiet()
  }

  /** The last job's end closes the terminal by itself; a job left in the background may keep it open for ever. */
  function expectQuiet(): void {
    clearTimeout(quiet)
    if (ended && !paused && !stream.destroyed) quiet = setTimeout(() => stream.destroy(), quietMs)
  }

  // EIO is how Linux says that nobody has the other side open any more.
  stream.on('error', () => stream.destroy())
  stream.once('close', () => {
    clearTimeout(quiet)
    batch.end()
  })
  stream.resume()

  return {
    pid: forked.pid,
    read: () => batch.next(),
    async write(bytes) {
      let tryMs = firstTryMs
      for (let offset = 0; offset < bytes.length && !stream.destroyed; ) {
        const taken = writeNow(forked.fd, bytes.subarray(offset))
        offset += taken
        if (taken > 0) tryMs = firstTryMs
        else {
          await delay(tryMs)
          tryMs = Math.min(tryMs * 2, longestTryMs)
        }
      }
    },
    resize(columns, lines) {
      if (!stream.destroyed) native.resize(forked.fd, columns, lines)
    },
    exited: exit.promise,
    close: () => stream.destroy(),
  }
}

/**
 * Writes as much as the terminal takes at once. The stream itself would not return before it has taken all: libuv opens
 * this side of a terminal for blocking writes, and everything else in the agent would wait for a program that reads nothing.
 */
function writeNow(descriptor: number, bytes: Uint8Array): number {
  try {
    return writeSync(descriptor, bytes)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EAGAIN') return 0
    // Nobody has the other side open any more, which its reader notices.
    if (code === 'EIO') return bytes.length
    throw error
  }
}
