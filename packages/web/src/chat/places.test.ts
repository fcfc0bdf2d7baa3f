import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPathResolver, splitPlaces } from './places.ts'

const resolve = createPathResolver([
  'src/a.ts',
  'src/deep/b.ts',
  'lib/b.ts',
  'app/[id]/page.tsx',
  'README.md',
])
const at = (path: string, start: number, end = start) => ({ path, lines: { start, end } })

describe('places in an answer', () => {
  test('[PAGE10] paths with lines are found in every usual form', () => {
    expect(splitPlaces('see src/a.ts:12-40.', resolve)).toEqual(['see ', at('src/a.ts', 12, 40), '.'])
    expect(splitPlaces('(a.ts:7)', resolve)).toEqual(['(', at('src/a.ts', 7), ')'])
    expect(splitPlaces('src/a.ts#L9-L3', resolve)).toEqual([at('src/a.ts', 3, 9)])
    expect(splitPlaces('./src/a.ts:1–2', resolve)).toEqual([at('src/a.ts', 1, 2)])
    expect(splitPlaces('app/[id]/page.tsx:5', resolve)).toEqual([at('app/[id]/page.tsx', 5)])
  })

  test('[PAGE10] several ranges of a file are several places; brackets around a place go with it', () => {
    expect(splitPlaces('[src/a.ts:1-2, 5-6] and [src/a.ts:9]', resolve)).toEqual([
      at('src/a.ts', 1, 2),
      ' ',
      at('src/a.ts', 5, 6),
      ' and ',
      at('src/a.ts', 9),
    ])
  })

  test('[PAGE10] what is no file of the workspace, or could be two, stays text', () => {
    for (const text of ['http://localhost:3000', 'b.ts:3', 'gone.ts:1-2', 'at 12:30', 'ratio 3:1']) {
      expect(splitPlaces(text, resolve)).toEqual([text])
    }
  })

  test('[PAGE10] text around places is kept to the letter', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(splitPlaces(text, () => null).join('')).toBe(text)
      }),
    )
  })
})
