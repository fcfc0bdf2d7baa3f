import { expect, test } from 'vitest'
import { formatLineRange, parseLineRange } from './line-range.ts'

test('[PAGE5] an address names one line or several, in any order, and nothing else', () => {
  expect(parseLineRange('#L12')).toEqual({ start: 12, end: 12 })
  expect(parseLineRange('#L12-40')).toEqual({ start: 12, end: 40 })
  expect(parseLineRange('#L40-L12')).toEqual({ start: 12, end: 40 })
  expect(['#', '#12', '#L0', '#Lx', '#L1-', ''].map(parseLineRange)).toEqual(Array(6).fill(null))
  expect(formatLineRange({ start: 3, end: 3 })).toBe('L3')
  expect(parseLineRange(`#${formatLineRange({ start: 3, end: 9 })}`)).toEqual({ start: 3, end: 9 })
})
