import { describe, expect, it } from 'vitest'
import { limitOf, modelLimitsPattern, parseModelLimits } from './model-limits.ts'

describe('limits of models', () => {
  it('[GW22] are named by model, or for every other model', () => {
    const text = 'a=60 requests, 100000 tokens; b.1/c = 5 tokens ;*=600 requests;'
    expect(modelLimitsPattern.test(text)).toBe(true)
    const limits = parseModelLimits(text)
    expect(limitOf(limits, 'a')).toEqual({ requests: 60, tokens: 100_000 })
    expect(limitOf(limits, 'b.1/c')).toEqual({ tokens: 5 })
    expect(limitOf(limits, 'toString')).toEqual({ requests: 600 })
    expect(limitOf(parseModelLimits(undefined), 'a')).toBeUndefined()
  })

  it.each(['', 'a', 'a=', 'a=5', 'a=0 requests', 'a=-1 tokens', 'a=5 dollars', 'a=5 requests 6 tokens'])(
    '[GW22] that cannot be read are refused: %s',
    (text) => expect(modelLimitsPattern.test(text)).toBe(false),
  )
})
