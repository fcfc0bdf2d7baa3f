import { expect, it } from 'vitest'
import { parseRange } from './byte-range.ts'

it.each([
  [undefined, 'whole'],
  ['', 'whole'],
  ['bytes=0-4', [0, 5]],
  ['bytes=5-', [5, 10]],
  ['bytes=-3', [7, 10]],
  ['bytes=-100', [0, 10]],
  ['bytes=0-999', [0, 10]],
  ['bytes=9-9', [9, 10]],
  [' bytes=0-0 ', [0, 1]],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-4', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=0-1,3-4', 'whole'],
  ['lines=0-1', 'whole'],
  ['bytes=a-b', 'whole'],
  ['bytes=99999999999999999999-', 'whole'],
] as const)('[FILE15] Range %j of ten bytes is %j', (header, expected) => {
  const { kind, ...rest } = parseRange(header, 10)
  const range = 'range' in rest ? [rest.range.start, rest.range.end] : kind
  expect(range).toEqual(expected)
})

it('[FILE15] an empty file has no part', () => {
  expect(parseRange('bytes=0-', 0)).toEqual({ kind: 'unsatisfiable' })
})
