import { describe, expect, it } from 'vitest'
import { retryDelay } from './retry-delay.ts'

describe('retry delay', () => {
  it('[GW5] waits are uniform between nothing and a span that doubles up to eight seconds', () => {
    expect([1, 2, 3, 6, 20].map((retry) => retryDelay(retry, () => 1))).toEqual([
      250, 500, 1_000, 8_000, 8_000,
    ])
    expect(retryDelay(3, () => 0)).toBe(0)
    expect(retryDelay(2, () => 0.5)).toBe(250)
  })
})
