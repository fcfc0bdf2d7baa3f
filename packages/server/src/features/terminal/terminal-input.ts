import type { Clock } from '../../base/clock.ts'

/** Bytes that may wait for the program; who types more is not read from until there is room. */
const maxWaitingBytes = 256 * 1024
const roomBytes = 64 * 1024

/** Answers of the screen are dropped when so much waits: the program does not read them. */
const maxWaitingAnswers = 64 * 1024

/** After so long without taking anything, the program is not just busy with a paste. */
const deafMilliseconds = 1_000

const interruptByte = 0x03

/** What is to be typed into a program, in order. */
export interface TerminalInput {
  /** What a person types. Where there is a promise, it resolves when there is room for more. */
  type(bytes: Uint8Array): Promise<void> | undefined
  /** What the screen answers. */
  answer(bytes: Uint8Array): void
  /** most bytes that ever waited */
  peak(): number
}

export interface TerminalInputDeps {
  /** Resolves when the program's terminal has taken the bytes; rejects when it is gone. */
  write(bytes: Uint8Array): Promise<void>
  /** Ctrl-C for a program that reads nothing: past what waits. */
  interrupt(): void
  clock: Clock
}

export function createTerminalInput({ write, interrupt, clock }: TerminalInputDeps): TerminalInput {
  let queue: Uint8Array[] = []
  let waiting = 0
  let writing = false
  let writingSince = 0
  let peak = 0
  let room: PromiseWithResolvers<void> | undefined

  function put(bytes: Uint8Array): void {
    queue.push(bytes)
    waiting += bytes.length
    peak = Math.max(peak, waiting)
    if (!writing) void drain()
  }

  async function drain(): Promise<void> {
    writing = true
    try {
      for (let next = queue.shift(); next; next = queue.shift()) {
        writingSince = clock()
        await write(next)
        waiting -= next.length
        if (waiting <= roomBytes) makeRoom()
      }
    } catch {
      // The program has ended, which its output tells.
      queue = []
      waiting = 0
      makeRoom()
    }
    writing = false
  }

  function makeRoom(): void {
    room?.resolve()
    room = undefined
  }

  /** As the kernel does at Ctrl-C: what has been typed before and not read is thrown away. */
  function dropWaiting(): void {
    waiting -= queue.reduce((sum, { length }) => sum + length, 0)
    queue = []
    makeRoom()
  }

  return {
    type(bytes) {
      const interrupts = bytes.length === 1 && bytes[0] === interruptByte
      if (interrupts && writing && clock() - writingSince > deafMilliseconds) {
        dropWaiting()
        interrupt()
        return undefined
      }
      put(bytes)
      if (waiting <= maxWaitingBytes) return undefined
      room ??= Promise.withResolvers()
      return room.promise
    },
    answer(bytes) {
      if (waiting + bytes.length <= maxWaitingAnswers) put(bytes)
    },
    peak: () => peak,
  }
}
