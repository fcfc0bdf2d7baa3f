import { terminalFlow } from '@atelier/contract'
import { createQuerySilencer } from './query-silencer.ts'
import { createTerminalRecorder, type TerminalRecorder } from './terminal-recorder.ts'
import type { TerminalScreen } from './terminal-screens.ts'
import { wholeCharacters } from './utf8.ts'

/** Output that the screen may be behind. */
const screenBytes = 256 * 1024

/**
 * Kept of the output: the tail for those who come back, and as much as the screen may be behind, so that what follows a
 * snapshot is still there when the snapshot is.
 */
const recordedBytes = terminalFlow.tailBytes + screenBytes + 64 * 1024

/** What becomes of a program's output: the screen sees all of it, viewers get it without its questions. */
export interface TerminalOutput {
  /** what viewers get */
  readonly recorder: TerminalRecorder
  /** Takes what the program wrote; may change the bytes. */
  take(bytes: Uint8Array): void
  /** No more follows. */
  end(): void
  /** the screen is so far behind that the program has to wait */
  full(): boolean
  /** most bytes that the screen was ever behind */
  peak(): number
}

export function createTerminalOutput({ screen }: { screen: TerminalScreen }): TerminalOutput {
  const recorder = createTerminalRecorder({ capacity: recordedBytes })
  const silencer = createQuerySilencer()
  /** the beginning of a character whose rest has not come */
  let rest = new Uint8Array(0)
  let peak = 0

  function put(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    const written = new Uint8Array(bytes)
    silencer.silence(bytes)
    recorder.append(bytes)
    screen.write(written, { end: recorder.end(), pending: silencer.pending() })
    peak = Math.max(peak, screen.backlog())
  }

  return {
    recorder,
    take(bytes) {
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
      const whole = wholeCharacters(all)
      rest = new Uint8Array(all.subarray(whole))
      put(all.subarray(0, whole))
    },
    end() {
      put(rest)
      rest = new Uint8Array(0)
    },
    full: () => screen.backlog() > screenBytes,
    peak: () => peak,
  }
}
