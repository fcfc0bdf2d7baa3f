import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRateLimiter, windowMilliseconds } from './rate-limiter.ts'

const limits = { standard: 100, ai: 20, upload: 10, probe: 600, static: 3000 }

describe('rate limiter', () => {
  it('[HTTP7] allows exactly the limit and tells when the next one may come', () => {
    let now = 1_000_000
    const limiter = createRateLimiter({ limits, clock: () => now })
    for (let made = 1; made <= 20; made += 1) {
      expect(limiter.consume('ai', 'user a')).toMatchObject({ allowed: true, remaining: 20 - made })
      now += 1_000
    }
    expect(limiter.consume('ai', 'user a')).toMatchObject({ allowed: false, remaining: 0, resetSeconds: 40 })
    now += 40_000
    expect(limiter.consume('ai', 'user a').allowed).toBe(true)
    expect(limiter.consume('ai', 'user a').allowed).toBe(false)
  })

  it('[HTTP6] counts callers and classes apart', () => {
    const limiter = createRateLimiter({ limits, clock: () => 0 })
    for (let made = 0; made < 10; made += 1) limiter.consume('upload', 'user a')
    expect(limiter.consume('upload', 'user a').allowed).toBe(false)
    expect(limiter.consume('upload', 'user b').allowed).toBe(true)
    expect(limiter.consume('standard', 'user a').allowed).toBe(true)
  })

  it('[HTTP7] no window of 60 seconds holds more than the limit, and none is refused below it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 200 }), (gaps) => {
        let now = 0
        const limiter = createRateLimiter({ limits, clock: () => now })
        const allowed: number[] = []
        for (const gap of gaps) {
          now += gap
          const inWindow = allowed.filter((time) => time > now - windowMilliseconds).length
          const decision = limiter.consume('upload', 'x')
          expect(decision.allowed).toBe(inWindow < 10)
          if (decision.allowed) allowed.push(now)
        }
      }),
    )
  })
})
