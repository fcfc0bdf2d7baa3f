import { expect, it } from 'vitest'
import { createAcquireStatistics } from './acquire-statistics.ts'

it('[DB18] percentiles are those of the values, and absent before the first', () => {
  const statistics = createAcquireStatistics()
  expect(statistics.percentiles()).toBeNull()
  for (let value = 100; value >= 1; value -= 1) statistics.record(value)
  expect(statistics.percentiles()).toEqual({ p50: 50, p95: 95, p99: 99 })
})

it('[DB18] old values are forgotten', () => {
  const statistics = createAcquireStatistics()
  for (let count = 0; count < 2_000; count += 1) statistics.record(1_000)
  for (let count = 0; count < 1_024; count += 1) statistics.record(2)
  expect(statistics.percentiles()).toEqual({ p50: 2, p95: 2, p99: 2 })
})
