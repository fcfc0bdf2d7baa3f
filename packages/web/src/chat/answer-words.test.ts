import type { Attempt, ModelCatalog, Usage } from '@atelier/contract'
import { describe, expect, test } from 'vitest'
import { attemptWords, fallbackWords, hasFailures } from './attempt-words.ts'
import { tokenWords } from './token-words.ts'

const usage: Usage = {
  inputTokens: 500,
  cachedInputTokens: 400,
  cacheWriteTokens: 100,
  outputTokens: 50,
  reasoningTokens: 20,
  estimated: false,
}

const catalog = {
  models: [
    { key: 'gpt', name: 'GPT' },
    { key: 'claude', name: 'Claude' },
  ],
} as ModelCatalog

const attempt = (model: string, outcome: Attempt['outcome'], status?: number): Attempt => ({
  model,
  outcome,
  ms: 1,
  ...(status === undefined ? {} : { status }),
})

describe('the words of a footer', () => {
  test('[PAGE9] tokens are told once each, with what a cache served and what was reasoning', () => {
    const plain = { ...usage, cachedInputTokens: 0, reasoningTokens: 0 }
    expect(tokenWords(usage)).toMatch(/^1.?000 in \(400 cached\), 70 out \(20 reasoning\)$/)
    expect(tokenWords({ ...plain, estimated: true })).toBe('≈ 600 in, 50 out')
  })

  test('[PAGE43] a fallback names each model that failed, with its last reason', () => {
    const attempts = [
      attempt('gpt', 'transient', 500),
      attempt('gpt', 'transient', 429),
      attempt('gone', 'unavailable'),
      attempt('claude', 'answered'),
    ]
    expect(fallbackWords(catalog, attempts)).toBe(
      'after GPT failed: 429, and gone has no key here, or its server is gone',
    )
    expect(hasFailures(attempts)).toBe(true)
  })

  test('[PAGE43] a model that answers after a failure of its own is no fallback', () => {
    const attempts = [attempt('gpt', 'transient', 500), attempt('gpt', 'answered')]
    expect(fallbackWords(catalog, attempts)).toBeNull()
    expect(hasFailures(attempts)).toBe(true)
    expect(hasFailures([attempt('gpt', 'answered'), attempt('gpt', 'answered')])).toBe(false)
  })

  test('[PAGE43] a refusal without a status is told in words', () => {
    expect(attemptWords(attempt('gpt', 'timeout'))).toBe('did not answer in time')
  })
})
