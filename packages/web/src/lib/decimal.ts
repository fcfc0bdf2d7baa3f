/**
 * The exact sum of decimal strings such as `0.25`, without trailing zeros.
 * Money never goes through a binary fraction: 0.1 + 0.2 is 0.3 here.
 */
export function sumDecimals(values: readonly string[]): string {
  const scale = Math.max(0, ...values.map((value) => (value.split('.')[1] ?? '').length))
  let total = 0n
  for (const value of values) {
    const [whole = '0', fraction = ''] = value.split('.')
    total += BigInt(whole + fraction.padEnd(scale, '0'))
  }
  if (scale === 0) return total.toString()
  const digits = total.toString().padStart(scale + 1, '0')
  const fraction = digits.slice(-scale).replace(/0+$/, '')
  const whole = digits.slice(0, -scale)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
