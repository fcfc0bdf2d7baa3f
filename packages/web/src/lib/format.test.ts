import { expect, test } from 'vitest'
import { formatAgo, formatBytes, formatCount, formatMoney } from './format.ts'

test('[PAGE9] a price keeps the digits that count', () => {
  expect(['0', '0.0000421', '0.004', '0.25', '3', '0.00000001'].map(formatMoney)).toEqual([
    '$0',
    '$0.000042',
    '$0.004',
    '$0.25',
    '$3.00',
    '< $0.000001',
  ])
})

test('[PAGE3] sizes, counts and times read as words', () => {
  expect([0, 999, 1024, 1536, 150_000_000].map(formatBytes)).toEqual([
    '0 B',
    '999 B',
    '1 KB',
    '1.5 KB',
    '143 MB',
  ])
  expect([formatCount(1, 'file'), formatCount(2000, 'file')]).toEqual(['1 file', '2,000 files'])
  const now = Date.parse('2026-01-02T00:00:00Z')
  expect(formatAgo('2026-01-01T23:59:50Z', now)).toBe('this minute')
  expect(formatAgo('2026-01-01T21:00:00Z', now)).toBe('3 hours ago')
  expect(formatAgo('2025-12-30T00:00:00Z', now)).toBe('3 days ago')
})
