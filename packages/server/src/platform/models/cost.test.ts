import type { ModelPricing, Usage } from '@atelier/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { costOf, sumOfCosts } from './cost.ts'
import { noUsage } from './usage.ts'

const tokens = fc.integer({ min: 0, max: 50_000_000 })
const usages: fc.Arbitrary<Usage> = fc.record({
  inputTokens: tokens,
  cachedInputTokens: tokens,
  cacheWriteTokens: tokens,
  outputTokens: tokens,
  reasoningTokens: tokens,
  estimated: fc.boolean(),
})
/** Up to six decimal places, as providers quote them. */
const rates = fc
  .tuple(fc.nat(999), fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 1, max: 6 }))
  .map(([whole, fraction, places]) => `${whole}.${String(fraction).padStart(6, '0').slice(0, places)}`)
const pricings: fc.Arbitrary<ModelPricing> = fc.record({
  input: rates,
  output: rates,
  cachedInput: rates,
  cacheWrite: rates,
})

/** The same product in units of 10^-12 USD: rates have at most six places, and they are per 10^6 tokens. */
function exactly(usage: Usage, pricing: ModelPricing): bigint {
  const micro = (rate: string | undefined) => {
    const [whole = '0', fraction = ''] = (rate ?? pricing.input).split('.')
    return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
  }
  return (
    BigInt(usage.inputTokens) * micro(pricing.input) +
    BigInt(usage.cachedInputTokens) * micro(pricing.cachedInput) +
    BigInt(usage.cacheWriteTokens) * micro(pricing.cacheWrite) +
    BigInt(usage.outputTokens + usage.reasoningTokens) * micro(pricing.output)
  )
}

function picoDollars(cost: string): bigint {
  const [whole = '0', fraction = ''] = cost.split('.')
  return BigInt(whole) * 10n ** 12n + BigInt(fraction.padEnd(12, '0'))
}

describe('cost', () => {
  it('[MOD7] is the exact product of tokens and rates', () => {
    fc.assert(
      fc.property(usages, pricings, (usage, pricing) => {
        const cost = costOf(usage, pricing)
        expect(cost).toMatch(/^\d+(\.\d*[1-9])?$/)
        expect(picoDollars(cost ?? '')).toBe(exactly(usage, pricing))
      }),
    )
  })

  it('[MOD7] of parts is the cost of the whole', () => {
    fc.assert(
      fc.property(usages, pricings, (usage, pricing) => {
        const parts = (
          ['inputTokens', 'cachedInputTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const
        ).map((bucket) => costOf({ ...noUsage, [bucket]: usage[bucket] }, pricing))
        expect(sumOfCosts(parts)).toBe(costOf(usage, pricing))
      }),
    )
  })

  it('[MOD7] has no rounding where floating point has one', () => {
    const usage = { ...noUsage, inputTokens: 3 }
    expect(costOf(usage, { input: '0.1', output: '0' })).toBe('0.0000003')
    expect((3 * 0.1) / 1e6).not.toBe(0.0000003)
  })

  it('[MOD7] is null when a rate is not known, also in a sum', () => {
    expect(costOf({ ...noUsage, inputTokens: 5 }, null)).toBeNull()
    expect(sumOfCosts(['0.1', null])).toBeNull()
  })

  it('[MOD7] takes the rates of long prompts for the whole request, and knows when it does not know them', () => {
    const pricing = {
      input: '1',
      output: '2',
      longContext: { above: 1000, rates: { input: '10', output: '20' } },
    }
    const usage = { ...noUsage, inputTokens: 900, cachedInputTokens: 100, outputTokens: 1000 }
    expect(costOf(usage, pricing)).toBe('0.003')
    expect(costOf({ ...usage, cachedInputTokens: 101 }, pricing)).toBe('0.03001')
    expect(
      costOf({ ...usage, cachedInputTokens: 101 }, { ...pricing, longContext: { above: 1000, rates: null } }),
    ).toBeNull()
  })

  it('[MOD7] counts cached tokens as input where the cache has no price of its own', () => {
    expect(costOf({ ...noUsage, cachedInputTokens: 1_000_000 }, { input: '3', output: '9' })).toBe('3')
  })
})
