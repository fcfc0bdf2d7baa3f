import { Fault } from '../fault.ts'

/**
 * Cuts one upload into contents of the given lengths. Each content must be read to its end before the next is asked
 * for. Throws INVALID if the upload is shorter or longer than the lengths add up to.
 */
export async function* splitContents(
  body: AsyncIterable<Uint8Array>,
  lengths: number[],
): AsyncGenerator<AsyncIterable<Uint8Array>> {
  const iterator = body[Symbol.asyncIterator]()
  let rest: Uint8Array = new Uint8Array(0)

  async function* content(length: number): AsyncGenerator<Uint8Array> {
    let missing = length
    while (missing > 0) {
      if (rest.length === 0) {
        const next = await iterator.next()
        if (next.done === true) throw new Fault('INVALID', 'the upload is shorter than the batch says')
        rest = next.value
      }
      const part = rest.subarray(0, missing)
      rest = rest.subarray(part.length)
      missing -= part.length
      yield part
    }
  }

  for (const length of lengths) yield content(length)
  while (rest.length === 0) {
    const next = await iterator.next()
    if (next.done === true) return
    rest = next.value
  }
  throw new Fault('INVALID', 'the upload is longer than the batch says')
}
