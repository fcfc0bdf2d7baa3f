import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimateTokens, noUsage, promptTokens, sumOfUsages, totalTokens, usageFrom } from './usage.ts'

const texts = { prompt: 'x'.repeat(41), answer: 'y'.repeat(8) }
const reported = (input: object, output: object): LanguageModelV4Usage =>
  ({ inputTokens: input, outputTokens: output }) as LanguageModelV4Usage

describe('usage', () => {
  it('[MOD6] reasoning that no provider has counted is estimated in its own bucket', () => {
    const texts = { prompt: 'a'.repeat(40), answer: 'b'.repeat(8), reasoning: 'c'.repeat(400) }
    expect(usageFrom(undefined, texts)).toMatchObject({
      inputTokens: 10,
      outputTokens: 2,
      reasoningTokens: 100,
      estimated: true,
    })
  })

  it('[MOD6] has buckets that add up to what the provider calls its totals', () => {
    const part = fc.nat(1_000_000)
    fc.assert(
      fc.property(part, part, part, part, part, (fresh, read, write, text, reasoning) => {
        fc.pre(fresh + read + write > 0 && text + reasoning > 0)
        const total = fresh + read + write
        const detailed = usageFrom(
          reported(
            { total, noCache: fresh, cacheRead: read, cacheWrite: write },
            { total: text + reasoning, text, reasoning },
          ),
          texts,
        )
        const totalsOnly = usageFrom(
          reported({ total, cacheRead: read, cacheWrite: write }, { total: text + reasoning, reasoning }),
          texts,
        )
        expect(promptTokens(detailed)).toBe(total)
        expect(totalTokens(detailed)).toBe(total + text + reasoning)
        expect(totalsOnly).toEqual(detailed)
        expect(detailed.estimated).toBe(false)
      }),
    )
  })

  it('[MOD6] estimates what the provider does not tell, and says so', () => {
    expect(usageFrom(undefined, texts)).toEqual({
      ...noUsage,
      inputTokens: 11,
      outputTokens: 2,
      estimated: true,
    })
    expect(usageFrom(reported({ total: 50 }, {}), texts)).toMatchObject({
      inputTokens: 50,
      outputTokens: 2,
      estimated: true,
    })
  })

  it('[MOD6] does not believe a count of nothing for a text that is there, nor counts that are none', () => {
    expect(usageFrom(reported({ total: 0 }, { total: 0 }), texts)).toMatchObject({
      inputTokens: 11,
      outputTokens: 2,
      estimated: true,
    })
    expect(usageFrom(reported({ total: Number.NaN }, { total: -1 }), texts).estimated).toBe(true)
  })

  it('[MOD6] estimates characters / 4, rounded up', () => {
    expect(['', 'a', 'abcd', 'abcde'].map(estimateTokens)).toEqual([0, 1, 1, 2])
  })

  it('[MOD6] of several answers is their sum, estimated as soon as one is', () => {
    const one = { ...noUsage, inputTokens: 1, reasoningTokens: 2 }
    const other = { ...noUsage, inputTokens: 4, outputTokens: 8, estimated: true }
    expect(sumOfUsages([one, other])).toEqual({
      ...noUsage,
      inputTokens: 5,
      outputTokens: 8,
      reasoningTokens: 2,
      estimated: true,
    })
  })
})
