import { constants, readFileSync } from 'node:fs'
import { Fault } from '../fault.ts'
import { replaceFileSync } from './replace-file.ts'

/** Keeps an agent that has been replaced from writing: the newest owner's number is on the shared disk. */
export interface Fence {
  /** Throws FENCED once a newer agent has taken the workspace. */
  check(): void
}

/** Takes ownership with `epoch`. Throws FENCED if the disk knows a newer one. */
export function createFence(path: string, epoch: bigint): Fence {
  const fence: Fence = {
    check() {
      const owner = readEpoch(path)
      if (owner > epoch)
        throw new Fault('FENCED', `the workspace is owned by epoch ${owner}, this is ${epoch}`)
    },
  }
  fence.check()
  if (readEpoch(path) !== epoch) replaceFileSync(path, `${epoch}\n`)
  return fence
}

/** A missing or unreadable number is 0: the file is in the user's reach, and losing it must not lock the workspace. */
function readEpoch(path: string): bigint {
  let text: string
  try {
    text = readFileSync(path, {
      encoding: 'latin1',
      flag: constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    })
  } catch {
    return 0n
  }
  const digits = /^\d{1,20}/.exec(text)?.[0]
  return digits === undefined ? 0n : BigInt(digits)
}
