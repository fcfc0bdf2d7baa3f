import { wholeCharacters } from './utf8.ts'

/** Bytes reserved at first: most terminals say little. */
const firstCapacity = 8 * 1024

/** The last bytes of a terminal's output. Positions count from the first byte it ever wrote. */
export interface TerminalRecorder {
  /** position of the oldest byte kept */
  start(): number
  /** position after the newest byte */
  end(): number
  append(bytes: Uint8Array): void
  /** A copy of at most `limit` bytes from `position`, which lies between start and end; ends with a whole character. */
  read(position: number, limit: number): Uint8Array
}

/** A ring that grows to `capacity` bytes. Bytes are copied: a piece of output may be a view of a much larger buffer. */
export function createTerminalRecorder({ capacity }: { capacity: number }): TerminalRecorder {
  let ring = new Uint8Array(Math.min(firstCapacity, capacity))
  let end = 0

  const start = () => Math.max(0, end - ring.length)

  function grow(wanted: number): void {
    let size = ring.length
    while (size < wanted && size < capacity) size *= 2
    if (size === ring.length) return
    const kept = copy(start(), end - start())
    ring = new Uint8Array(Math.min(size, capacity))
    put(kept, end - kept.length)
  }

  /** Only before anything has been dropped, or at the capacity: else positions and the ring would not agree. */
  function put(bytes: Uint8Array, position: number): void {
    const last = bytes.subarray(Math.max(0, bytes.length - ring.length))
    const offset = (position + bytes.length - last.length) % ring.length
    const first = last.subarray(0, ring.length - offset)
    ring.set(first, offset)
    ring.set(last.subarray(first.length), 0)
  }

  function copy(position: number, length: number): Uint8Array {
    const offset = position % ring.length
    const bytes = new Uint8Array(length)
    const first = ring.subarray(offset, offset + length)
    bytes.set(first)
    bytes.set(ring.subarray(0, length - first.length), first.length)
    return bytes
  }

  return {
    start,
    end: () => end,
    append(bytes) {
      grow(end + bytes.length)
      put(bytes, end)
      end += bytes.length
    },
    read(position, limit) {
      if (position < start() || position > end)
        throw new RangeError(`nothing is kept of position ${position}`)
      const bytes = copy(position, Math.min(limit, end - position))
      // At the end of what there is, the bytes are whole already.
      return position + bytes.length === end
        ? bytes
        : bytes.subarray(0, wholeCharacters(bytes) || bytes.length)
    },
  }
}
