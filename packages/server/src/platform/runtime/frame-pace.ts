import type { Readable } from 'node:stream'

/** Length of a turn, milliseconds. */
const turnMs = 100
/**
 * Work of one turn: a frame is one, and so are 256 bytes of its header. A terminal at full speed needs 200, a listing of
 * 5,000 entries 3,000. An agent that makes more is not ours any more and must not take the server's only thread.
 */
const workOfTurn = 4000
const headerBytesPerWork = 256

/** Holds an agent's stream back when it makes more work than a turn has; its frames wait in the kernel. */
export function createFramePace(stream: Readable): { spend(headerBytes: number): void } {
  let left = workOfTurn
  let turnEnds = 0
  let held = false

  return {
    spend(headerBytes) {
      const now = performance.now()
      if (now >= turnEnds) {
        turnEnds = now + turnMs
        left = workOfTurn
      }
      left -= 1 + headerBytes / headerBytesPerWork
      if (left > 0 || held) return
      held = true
      stream.pause()
      setTimeout(() => {
        held = false
        stream.resume()
      }, turnEnds - now)
    },
  }
}
