import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sumDecimals } from './decimal.ts'

test('[PAGE9] the cost of a chat is the exact sum of its answers', () => {
  expect(sumDecimals([])).toBe('0')
  expect(sumDecimals(['0.1', '0.2'])).toBe('0.3')
  expect(sumDecimals(['0.0000042', '3', '0.9999958'])).toBe('4')
  expect(sumDecimals(['12345678901234567890.5', '0.05'])).toBe('12345678901234567890.55')
})

test('[PAGE9] the order of the answers does not change their cost', () => {
  const money = fc
    .tuple(fc.nat(), fc.nat(999_999))
    .map(([whole, part]) => `${whole}.${String(part).padStart(6, '0')}`)
  fc.assert(
    fc.property(fc.array(money), (costs) => {
      const micros = costs.reduce((sum, cost) => sum + BigInt(cost.replace('.', '')), 0n)
      const [whole = '', part = ''] = sumDecimals(costs).split('.')
      expect(BigInt(whole + part.padEnd(6, '0'))).toBe(micros)
      expect(sumDecimals(costs.toReversed())).toBe(sumDecimals(costs))
    }),
  )
})
