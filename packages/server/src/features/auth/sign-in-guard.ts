import { LRUCache } from 'lru-cache'
import { AppError } from '../../base/app-error.ts'
import type { Clock } from '../../base/clock.ts'

/** Failures are remembered for so long. */
export const failureWindowMilliseconds = 15 * 60_000

/** Failures on one account from one address: whoever guesses locks out himself, not the owner elsewhere. */
export const maxFailuresByAddress = 10

/** Failures on one account from all addresses: bounds a guess from many places to 400 an hour. */
export const maxFailuresByAccount = 100

/**
 * Counters remembered at once. An address makes at most 1,500 attempts in the window under the standard rate, so
 * pushing a counter out takes 67 addresses. The worst case is 90 MB, and takes as many failures on each account.
 */
const maxCounters = 100_000

/** Limits wrong passwords, per process. */
export interface SignInGuard {
  /**
   * Asks leave for an attempt and counts it as failed until it is known to have succeeded, so that attempts at the same
   * time cannot pass together. Throws RATE_LIMITED with `details.retryAfterSeconds`.
   */
  admit(attempt: { email: string; address: string }): { succeeded(): void; abandoned(): void }
}

export function createSignInGuard({ clock }: { clock: Clock }): SignInGuard {
  const failures = new LRUCache<string, number[]>({ max: maxCounters })

  function recent(key: string): number[] {
    const since = clock() - failureWindowMilliseconds
    const times = (failures.get(key) ?? []).filter((time) => time > since)
    failures.set(key, times)
    return times
  }

  function refuseAbove(limit: number, times: readonly number[]): void {
    const oldest = times[times.length - limit]
    if (oldest === undefined) return
    const retryAfterSeconds = Math.max(1, Math.ceil((oldest + failureWindowMilliseconds - clock()) / 1000))
    throw new AppError(
      'RATE_LIMITED',
      'Too many failed attempts to sign in to this account; try again later',
      {
        details: { retryAfterSeconds },
      },
    )
  }

  return {
    admit({ email, address }) {
      const fromHere = `${email} ${address}`
      const byAddress = recent(fromHere)
      const byAccount = recent(email)
      refuseAbove(maxFailuresByAddress, byAddress)
      refuseAbove(maxFailuresByAccount, byAccount)
      const now = clock()
      byAddress.push(now)
      byAccount.push(now)
      return {
        succeeded() {
          failures.delete(fromHere)
          removeOne(failures.get(email), now)
        },
        abandoned() {
          removeOne(failures.get(fromHere), now)
          removeOne(failures.get(email), now)
        },
      }
    },
  }
}

function removeOne(times: number[] | undefined, time: number): void {
  const index = times?.indexOf(time) ?? -1
  if (index >= 0) times?.splice(index, 1)
}
