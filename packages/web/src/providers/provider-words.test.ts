import type { ProviderHealth } from '@atelier/contract'
import { describe, expect, test } from 'vitest'
import { breakerWords, healthWords } from './provider-words.ts'

const provider: ProviderHealth = {
  id: 'mistral',
  name: 'Mistral',
  configured: true,
  keys: 1,
  keyVariable: 'MISTRAL_API_KEY',
  breaker: 'closed',
  models: [],
  calls: 4,
  failures: 0,
  errorRate: 0,
  latency: null,
  lastError: null,
}

describe('words about a provider', () => {
  test('[PAGE45] an open breaker says more than failures, and no key says more than both', () => {
    const tone = (changes: Partial<ProviderHealth>) => healthWords({ ...provider, ...changes }).title
    expect(tone({})).toBe('ready')
    expect(tone({ failures: 1 })).toBe('failing at times')
    expect(tone({ failures: 4 })).toBe('failing')
    expect(tone({ failures: 4, breaker: 'half-open' })).toBe('being tried again')
    expect(tone({ failures: 4, breaker: 'open' })).toBe('left alone')
    expect(tone({ failures: 4, breaker: 'open', configured: false })).toBe('not connected')
  })

  test('[PAGE45] a model that is left alone says when it is tried again', () => {
    const model = { model: 'm', keyNumber: 1, breaker: 'open' as const, retryInMs: 4_100 }
    expect(breakerWords(model)).toBe('left alone, tried again in 5 s')
    expect(breakerWords({ ...model, breaker: 'closed', retryInMs: 0 })).toBe('asked as usual')
  })
})
