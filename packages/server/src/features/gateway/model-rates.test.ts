import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createModelRates } from './model-rates.ts'

describe('rates of models', () => {
  it('[GW22] so many requests a minute, and the wait is told', () => {
    let now = 1_000_000
    const rates = createModelRates({ limits: { a: { requests: 2 } }, clock: () => now })
    rates.began('a')
    now += 10_000
    rates.began('a')
    expect(rates.wait('a')).toBe(51_000)
    expect(rates.wait('b')).toBe(0)
    now += 51_000
    expect(rates.wait('a')).toBe(0)
  })

  it('[GW22] so many tokens a minute, counted as calls end', () => {
    let now = 1_000_000
    const rates = createModelRates({ limits: { '*': { tokens: 1_000 } }, clock: () => now })
    rates.used('a', 999)
    expect(rates.wait('a')).toBe(0)
    rates.used('a', 5_000)
    expect(rates.wait('a')).toBe(61_000)
    expect(rates.wait('b')).toBe(0)
    now += 61_000
    expect(rates.wait('a')).toBe(0)
  })

  it('[GW22] no minute holds more requests than the limit, and a wait is never in vain', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 15_000 }), { maxLength: 200 }), (gaps) => {
        let now = 0
        const rates = createModelRates({ limits: { a: { requests: 5 } }, clock: () => now })
        const made: number[] = []
        for (const gap of gaps) {
          now += gap
          now += rates.wait('a')
          expect(rates.wait('a')).toBe(0)
          rates.began('a')
          made.push(now)
          expect(made.filter((time) => time > now - 60_000).length).toBeLessThanOrEqual(5)
        }
      }),
    )
  })
})
