import type { Writable } from 'node:stream'

/** Resolves when the stream takes more, or is gone. */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stream.off('drain', settle).off('close', settle)
      resolve()
    }
    stream.once('drain', settle).once('close', settle)
  })
}
