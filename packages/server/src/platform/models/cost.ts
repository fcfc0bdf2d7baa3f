import type { ModelPricing, TokenRates, Usage } from '@atelier/contract'
import { promptTokens } from './usage.ts'

/** Decimal places of a rate that are kept; providers use at most six. */
const rateScale = 12n
/** Rates are per million tokens: six more places. */
const costScale = rateScale + 6n

/**
 * The exact price of an answer in USD as a decimal string without trailing zeros, or null when a rate it needs is not
 * known. No floating point: rates are integers of 10^-12 USD per million tokens.
 */
export function costOf(usage: Usage, pricing: ModelPricing | null): string | null {
  const rates = pricing === null ? null : ratesFor(pricing, promptTokens(usage))
  if (rates === null) return null
  const input = parseDecimal(rates.input)
  const sum =
    BigInt(usage.inputTokens) * input +
    BigInt(usage.cachedInputTokens) *
      (rates.cachedInput === undefined ? input : parseDecimal(rates.cachedInput)) +
    BigInt(usage.cacheWriteTokens) *
      (rates.cacheWrite === undefined ? input : parseDecimal(rates.cacheWrite)) +
    BigInt(usage.outputTokens + usage.reasoningTokens) * parseDecimal(rates.output)
  return formatDecimal(sum, costScale)
}

/** The exact sum of amounts of money; null as soon as one of them is not known. */
export function sumOfCosts(costs: readonly (string | null)[]): string | null {
  let sum = 0n
  for (const cost of costs) {
    if (cost === null) return null
    sum += parseDecimal(cost, costScale)
  }
  return formatDecimal(sum, costScale)
}

function ratesFor(pricing: ModelPricing, prompt: number): TokenRates | null {
  const { longContext } = pricing
  return longContext !== undefined && prompt > longContext.above ? longContext.rates : pricing
}

/** `"0.25"` -> 0.25 * 10^scale. Throws RangeError when it is no decimal or has more places than the scale. */
function parseDecimal(text: string, scale = rateScale): bigint {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text)
  if (match === null) throw new RangeError(`not a decimal amount: ${text}`)
  const [, whole = '0', fraction = ''] = match
  if (fraction.length > Number(scale)) throw new RangeError(`too many decimal places: ${text}`)
  return BigInt(whole + fraction.padEnd(Number(scale), '0'))
}

function formatDecimal(amount: bigint, scale: bigint): string {
  const digits = amount.toString().padStart(Number(scale) + 1, '0')
  const fraction = digits.slice(-Number(scale)).replace(/0+$/, '')
  const whole = digits.slice(0, -Number(scale))
  return fraction === '' ? whole : `${whole}.${fraction}`
}
