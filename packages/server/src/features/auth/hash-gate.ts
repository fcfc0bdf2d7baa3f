import { AppError } from '../../base/app-error.ts'

/** One scrypt takes about 80 ms of a thread and 32 MB: two leave half of libuv's four threads to files and DNS. */
const concurrentHashes = 2

/** Anybody may cause a hash, so those who wait are counted: 100 are about 4 s of work. */
const waitingHashes = 100

/** Runs password hashes a few at a time. Throws SERVICE_UNAVAILABLE when too many wait. */
export type HashGate = <T>(work: () => Promise<T>) => Promise<T>

export function createHashGate(): HashGate {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= concurrentHashes) {
      if (waiting.length >= waitingHashes) {
        throw new AppError(
          'SERVICE_UNAVAILABLE',
          'Too many people sign in at this moment; try again in a few seconds',
        )
      }
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else {
      running += 1
    }
    try {
      return await work()
    } finally {
      // The place goes to the next in line without becoming free in between.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
