import type { ModelRecord, TokenRates } from '@atelier/contract'

/** The highest input and output rates of all known prices: what is assumed of a model whose price is not known. */
export function dearestRates(models: readonly ModelRecord[]): TokenRates {
  const rates = models.flatMap(({ pricing }) => {
    if (pricing === null) return []
    return pricing.longContext?.rates ? [pricing, pricing.longContext.rates] : [pricing]
  })
  return {
    input: dearest(rates.flatMap(({ input, cacheWrite }) => [input, cacheWrite ?? '0'])),
    output: dearest(rates.map(({ output }) => output)),
  }
}

/** Prices have few digits: as numbers they keep their order. */
function dearest(prices: readonly string[]): string {
  return prices.reduce((highest, price) => (Number(price) > Number(highest) ? price : highest), '0')
}
