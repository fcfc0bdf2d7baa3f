import fc from 'fast-check'
import { expect, it } from 'vitest'
import { vectorLiteral } from './vector-literal.ts'

it('[RAG11] a vector is written as it is, to five decimals', () => {
  expect(vectorLiteral(Float32Array.of(0.5, 0, -0.00012, 1, -1, 0.000001))).toBe(
    '[50000e-5,0,-12e-5,100000e-5,-100000e-5,0]',
  )
  expect(vectorLiteral(new Float32Array())).toBe('[]')
  fc.assert(
    fc.property(fc.float32Array({ min: -1, max: 1, noNaN: true, maxLength: 20 }), (vector) => {
      const read = JSON.parse(vectorLiteral(vector)) as number[]
      expect(read).toHaveLength(vector.length)
      for (const [at, value] of read.entries())
        expect(Math.abs(value - (vector[at] ?? 0))).toBeLessThan(0.6e-5)
    }),
  )
})

it('[RAG11] what is no unit vector is refused', () => {
  expect(() => vectorLiteral(Float32Array.of(Number.NaN))).toThrow(RangeError)
  expect(() => vectorLiteral(Float32Array.of(1_000))).toThrow(RangeError)
})
