import { AppError } from '../../base/app-error.ts'

/** One event of a run as its readers get it. */
export interface RunFrame {
  /** event number, from 1 */
  id: number
  json: string
}

/** The events of a run in the making: the newest in memory, whoever listens at whatever place. */
export interface RunFeed {
  /** the number that the next event gets */
  nextNumber(): number
  publish(json: string, options: { last: boolean }): void
  /** Events after a number, to the end of the run. Ends early when `signal` aborts. */
  follow(after: number, signal: AbortSignal): AsyncGenerator<RunFrame, void, void>
}

/** Characters that are kept in memory; a reader that is further behind reads what is stored. */
export const charactersKept = 2 * 1024 * 1024

/** Pause before what has left the memory, but is not stored yet, is looked for again, in milliseconds. */
const storedPause = 100

/**
 * A reader holds a place, not a queue: a slow one costs no memory and slows nobody. `stored` gives the events after a
 * number as far as they are stored.
 */
export function createRunFeed(stored: (after: number) => AsyncIterable<RunFrame>): RunFeed {
  let kept: string[] = []
  let size = 0
  /** number of the last event that is no longer kept */
  let dropped = 0
  let ended = false
  const waiting = new Set<() => void>()

  const last = () => dropped + kept.length

  function dropOldest(): void {
    let count = 0
    while (size > charactersKept / 2 && count < kept.length - 1) {
      size -= kept[count]?.length ?? 0
      count += 1
    }
    kept = kept.slice(count)
    dropped += count
  }

  function changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      waiting.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }

  async function* fromStore(after: number, signal: AbortSignal): AsyncGenerator<RunFrame> {
    for (let place = after; place < dropped && !signal.aborted; ) {
      const before = place
      for await (const frame of stored(place)) {
        place = frame.id
        yield frame
      }
      if (place > before) continue
      if (ended) throw new AppError('SERVICE_UNAVAILABLE', 'A part of the answer could not be stored')
      await new Promise((resolve) => setTimeout(resolve, storedPause))
    }
  }

  return {
    nextNumber: () => last() + 1,
    publish(json, options) {
      kept.push(json)
      size += json.length
      if (size > charactersKept) dropOldest()
      ended = options.last
      for (const wake of [...waiting]) wake()
    },
    async *follow(after, signal) {
      let place = after
      while (!signal.aborted) {
        if (place < dropped) {
          for await (const frame of fromStore(place, signal)) {
            place = frame.id
            yield frame
          }
        } else if (place < last()) {
          place += 1
          yield { id: place, json: kept[place - dropped - 1] ?? '' }
        } else if (ended) return
        else await changed(signal)
      }
    },
  }
}
