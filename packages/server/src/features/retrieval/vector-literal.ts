const zero = 48
const comma = 44
const minus = 45
/** `e-5` */
const exponent = [101, 45, 53]
/** sign, seven digits, exponent and comma */
const bytesPerComponent = 12
const scale = 1e5
/** Components of a unit vector are at most 1; anything beyond seven digits is no such vector. */
const largest = 9_999_999

/**
 * A vector as pgvector reads it, with five decimals: `[1234e-5,0,-5e-5]`. Written digit by digit, since turning numbers into
 * strings is most of the time that storing a vector takes. Throws RangeError on a component beyond ±99.
 */
export function vectorLiteral(vector: Float32Array): string {
  const bytes = Buffer.allocUnsafe(vector.length * bytesPerComponent + 2)
  let at = 0
  for (const component of vector) {
    if (at > 0) bytes[at++] = comma
    at = writeScaled(bytes, at, Math.round(component * scale))
  }
  return `[${bytes.toString('latin1', 0, at)}]`
}

function writeScaled(bytes: Buffer, start: number, scaled: number): number {
  let at = start
  // Also catches NaN.
  if (!(Math.abs(scaled) <= largest)) throw new RangeError(`a vector component of ${scaled / scale}`)
  if (scaled === 0) {
    bytes[at++] = zero
    return at
  }
  if (scaled < 0) bytes[at++] = minus
  const value = Math.abs(scaled)
  let divisor = 1
  while (divisor * 10 <= value) divisor *= 10
  for (; divisor >= 1; divisor /= 10) bytes[at++] = zero + (Math.floor(value / divisor) % 10)
  for (const code of exponent) bytes[at++] = code
  return at
}
