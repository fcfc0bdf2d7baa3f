import { describe, expect, test } from 'vitest'
import { barsOf, type DayTotals, everyDay, firstDayOf, rangeOf, tokensOf } from './usage-days.ts'

const day = (name: string): DayTotals => ({
  day: name,
  calls: 2,
  inputTokens: 10,
  cachedInputTokens: 5,
  cacheWriteTokens: 1,
  outputTokens: 3,
  reasoningTokens: 4,
  cost: '0.5',
  unpriced: 0,
  estimated: 0,
})

describe('days of usage', () => {
  test('[PAGE44] a plot has every day of its period, also those without calls', () => {
    const days = everyDay({ from: '2026-02-27', to: '2026-03-02' }, [day('2026-03-01')])
    expect(days.map(({ day: name, calls }) => [name, calls])).toEqual([
      ['2026-02-27', 0],
      ['2026-02-28', 0],
      ['2026-03-01', 2],
      ['2026-03-02', 0],
    ])
  })

  test('[PAGE44] days are of UTC, and a range counts today', () => {
    expect(firstDayOf(7, Date.parse('2026-03-03T23:59:59Z'))).toBe('2026-02-25')
  })

  test('[PAGE44] the address names the range; another value is the usual one', () => {
    expect(['?days=90', '?days=12', '', '?days=x'].map(rangeOf)).toEqual([90, 30, 30, 30])
  })

  test('[PAGE44] a year is drawn by weeks that end today and add up to the cent', () => {
    const days = everyDay({ from: '2026-01-01', to: '2026-12-31' }, [day('2026-12-25'), day('2026-12-31')])
    const { unit, totals } = barsOf(days)
    expect([unit, totals.length]).toEqual(['week', 53])
    expect(totals.at(-1)).toMatchObject({ day: '2026-12-25', calls: 4, cost: '1', inputTokens: 20 })
    expect(totals[0]).toMatchObject({ day: '2026-01-01', calls: 0 })
    expect(barsOf(days.slice(0, 90))).toEqual({ unit: 'day', totals: days.slice(0, 90) })
  })

  test('[PAGE44] no token is counted twice', () => {
    expect(tokensOf(day('2026-03-01'))).toEqual({ input: 11, cached: 5, output: 7 })
  })
})
