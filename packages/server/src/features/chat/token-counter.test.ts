import { describe, expect, it } from 'vitest'
import { createTokenCounter, mostTokens } from './token-counter.ts'

const tokens = createTokenCounter()

describe('token counter', () => {
  it('[CHAT8] prose and code are counted as the encoder counts them', async () => {
    expect(await tokens.count('hello world')).toBe(2)
    expect(await tokens.count('export function add(a: number, b: number) { return a + b }')).toBe(17)
    expect(await tokens.count('')).toBe(0)
  })

  it('[CHAT8] a text that spells a control token is counted as text', async () => {
    expect(await tokens.count('a <|endoftext|> b')).toBeGreaterThan(5)
  })

  it.each([
    ['one letter', 'a'.repeat(200_000)],
    ['ideographs', '中文字符测试'.repeat(33_333)],
    ['spaces', ' '.repeat(200_000)],
    ['base 64', 'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo'.repeat(5_700)],
  ])('[CHAT9] 200,000 characters without a break do not stop the server: %s', async (_, text) => {
    const started = performance.now()
    const count = await tokens.count(text)
    // Uncut, each takes more than ten seconds; cut, less than a second on a slow machine.
    expect(performance.now() - started).toBeLessThan(5_000)
    expect(count).toBeGreaterThan(0)
    expect(count).toBeLessThanOrEqual(mostTokens(text))
  })

  it('[CHAT8] cutting a run changes its count by little', async () => {
    const text = '中文字符测试'.repeat(400)
    expect(Math.abs((await tokens.count(text)) - 1_200)).toBeLessThan(20)
  })

  it('[CHAT8] the cheap bound is never below the count', async () => {
    for (const text of ['héllo', '🙂🙃', '中文', 'plain', '\u0000\u0001']) {
      expect(await tokens.count(text)).toBeLessThanOrEqual(mostTokens(text))
    }
  })
})
