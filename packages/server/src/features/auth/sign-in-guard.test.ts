import { describe, expect, it } from 'vitest'
import {
  createSignInGuard,
  failureWindowMilliseconds,
  maxFailuresByAccount,
  maxFailuresByAddress,
} from './sign-in-guard.ts'

function setUp() {
  let now = 1_000_000
  const guard = createSignInGuard({ clock: () => now })
  return {
    guard,
    pass: (milliseconds: number) => {
      now += milliseconds
    },
    fail: (times: number, email = 'ada@example.com', address = '192.0.2.1') => {
      for (let index = 0; index < times; index += 1) guard.admit({ email, address })
    },
  }
}

const limited = expect.objectContaining({ code: 'RATE_LIMITED' })
const here = { email: 'ada@example.com', address: '192.0.2.1' }

describe('failed attempts to sign in', () => {
  it('[AUTH7] the eleventh in fifteen minutes from one address is refused, and says when to come back', () => {
    const { guard, fail, pass } = setUp()
    fail(1)
    pass(60_000)
    fail(maxFailuresByAddress - 1)
    expect(() => guard.admit(here)).toThrow(
      expect.objectContaining({ code: 'RATE_LIMITED', details: { retryAfterSeconds: 14 * 60 } }),
    )
    pass(14 * 60_000)
    expect(() => guard.admit(here)).not.toThrow()
  })

  it('[AUTH7] neither the owner elsewhere nor another account is locked out', () => {
    const { guard, fail } = setUp()
    fail(maxFailuresByAddress)
    expect(() => guard.admit({ ...here, address: '198.51.100.7' })).not.toThrow()
    expect(() => guard.admit({ ...here, email: 'grace@example.com' })).not.toThrow()
    expect(() => guard.admit(here)).toThrow(limited)
  })

  it('[AUTH7] guesses from many addresses together have a limit too', () => {
    const { guard, fail, pass } = setUp()
    for (let index = 0; index < maxFailuresByAccount; index += 1) fail(1, here.email, `192.0.2.${index}`)
    expect(() => guard.admit({ ...here, address: '198.51.100.7' })).toThrow(limited)
    pass(failureWindowMilliseconds)
    expect(() => guard.admit({ ...here, address: '198.51.100.7' })).not.toThrow()
  })

  it('[AUTH7] success clears the count of that address, and does not itself count', () => {
    const { guard, fail } = setUp()
    fail(maxFailuresByAddress - 1)
    guard.admit(here).succeeded()
    fail(maxFailuresByAddress - 1)
    expect(() => guard.admit(here)).not.toThrow()
    for (let index = 0; index < 2 * maxFailuresByAccount; index += 1) {
      guard.admit({ ...here, address: '198.51.100.7' }).succeeded()
    }
  })

  it('[AUTH7] an attempt that failed for a reason of ours does not count', () => {
    const { guard } = setUp()
    for (let index = 0; index < 2 * maxFailuresByAccount; index += 1) guard.admit(here).abandoned()
    expect(() => guard.admit(here)).not.toThrow()
  })
})
