import type { Usage } from '@atelier/contract'
import { formatNumber } from '../lib/format.ts'

/** `1,000 in (400 cached), 70 out (20 reasoning)`; what we counted ourselves begins with `≈`. */
export function tokenWords(usage: Usage): string {
  const input = usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens
  const output = usage.outputTokens + usage.reasoningTokens
  const about = usage.estimated ? '≈ ' : ''
  const cached = part(usage.cachedInputTokens, 'cached')
  const reasoning = part(usage.reasoningTokens, 'reasoning')
  return `${about}${formatNumber(input)} in${cached}, ${formatNumber(output)} out${reasoning}`
}

function part(count: number, what: string): string {
  return count > 0 ? ` (${formatNumber(count)} ${what})` : ''
}
