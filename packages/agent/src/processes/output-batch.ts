/** Bytes kept before the source must stop. */
export const batchSize = 64 * 1024

/** Bytes that are gathered into few frames: a terminal is read four kilobytes at a time. */
export interface OutputBatch {
  /** Copies bytes in; false if the source must stop until `room` is called back. */
  add(bytes: Uint8Array): boolean
  /** No more bytes will come. */
  end(): void
  /** The next batch; null after the end. Waits until there is something, and `gatherMs` more if another came just before. */
  next(): Promise<Uint8Array | null>
}

/** `room` hears that a full batch has been taken. `gatherMs`: how long small pieces wait for company. */
export function createOutputBatch({ room, gatherMs }: { room: () => void; gatherMs: number }): OutputBatch {
  let buffer = Buffer.allocUnsafeSlow(batchSize)
  const overflow: Uint8Array[] = []
  let length = 0
  let ended = false
  let wake: (() => void) | undefined
  let takenAt = Number.NEGATIVE_INFINITY

  function notify(): void {
    wake?.()
    wake = undefined
  }

  /** Resolves when `ready` holds, or after so many milliseconds. */
  async function until(ready: () => boolean, milliseconds?: number): Promise<void> {
    let late = false
    const timer =
      milliseconds === undefined
        ? undefined
        : setTimeout(() => {
            late = true
            notify()
          }, milliseconds)
    while (!ready() && !late) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    clearTimeout(timer)
  }

  function take(): Uint8Array {
    const taken =
      overflow.length === 0
        ? buffer.subarray(0, length)
        : Buffer.concat([buffer.subarray(0, length), ...overflow.splice(0)])
    const wasFull = length >= batchSize
    buffer = Buffer.allocUnsafeSlow(batchSize)
    length = 0
    takenAt = performance.now()
    if (wasFull) room()
    return taken
  }

  return {
    add(bytes) {
      const fits = Math.min(bytes.length, batchSize - length)
      buffer.set(bytes.subarray(0, fits), length)
      length += fits
      if (fits < bytes.length) overflow.push(Uint8Array.from(bytes.subarray(fits)))
      notify()
      return length < batchSize
    },
    end() {
      ended = true
      notify()
    },
    async next() {
      await until(() => length > 0 || ended)
      const wait = gatherMs - (performance.now() - takenAt)
      if (wait > 0) await until(() => length >= batchSize || ended, wait)
      return length === 0 && ended ? null : take()
    },
  }
}
