import { describe, expect, it } from 'vitest'
import { fallbacksOf, modelFallbacksPattern, parseModelFallbacks } from './model-fallbacks.ts'

describe('configured fallbacks', () => {
  it('[GW15] each model has its chain, all others the chain of *', () => {
    const fallbacks = parseModelFallbacks('big = small, ollama/qwen3:8b; *=local;')
    expect(fallbacksOf(fallbacks, 'big')).toEqual(['small', 'ollama/qwen3:8b'])
    expect(fallbacksOf(fallbacks, 'other')).toEqual(['local'])
    expect(fallbacksOf(fallbacks, 'local')).toEqual([])
    expect(fallbacksOf(parseModelFallbacks(undefined), 'big')).toEqual([])
    expect(fallbacksOf(fallbacks, 'constructor')).toEqual(['local'])
  })

  it.each(['a=b', 'a=b,c', 'a=b;c=d', ' a = b , c ; d = e ; '])('[GW15] is understood: %s', (text) => {
    expect(modelFallbacksPattern.test(text)).toBe(true)
  })

  it.each(['a', 'a=', '=b', 'a=b=c', 'a=b,,c', 'a=b c', ';'])('[GW15] is refused at start: %s', (text) => {
    expect(modelFallbacksPattern.test(text)).toBe(false)
  })
})
