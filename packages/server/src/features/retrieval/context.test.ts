import { describe, expect, it } from 'vitest'
import { contextText, fitPassages } from './context.ts'
import { fuse, legWeights } from './fusion.ts'
import { relevanceOf } from './relevance.ts'
import type { RankedPassage } from './search.ts'
import { intentOf, kindFactor, sourceKind } from './source-kind.ts'

const passage = (path: string, startLine: number, endLine: number, score: number): RankedPassage => ({
  chunkId: startLine,
  path,
  startLine,
  endLine,
  score,
  content: Array.from({ length: endLine - startLine + 1 }, (_, line) => `line ${startLine + line}\n`).join(
    '',
  ),
  contentSha256: 'x',
  language: 'typescript',
  similarity: 0.5,
  legs: [],
})

describe('the context of a question', () => {
  it('[RAG27] joins neighbours, also over three pieces, at the best place', () => {
    const found = fitPassages(
      [
        passage('a.ts', 11, 20, 3),
        passage('b.ts', 1, 2, 2),
        passage('a.ts', 31, 40, 1.5),
        passage('a.ts', 21, 30, 1),
      ],
      10_000,
    )
    expect(found.map(({ path, startLine, endLine }) => [path, startLine, endLine])).toEqual([
      ['a.ts', 11, 40],
      ['b.ts', 1, 2],
    ])
    expect(found[0]?.content.split('\n')).toHaveLength(31)
  })

  it('[RAG27] keeps to its budget and takes a smaller one where a larger does not fit', () => {
    const ranked = [passage('a.ts', 1, 10, 3), passage('b.ts', 1, 400, 2), passage('c.ts', 1, 3, 1)]
    const found = fitPassages(ranked, 80)
    expect(found.map(({ path }) => path)).toEqual(['a.ts', 'c.ts'])
    expect(contextText(found).length / 4).toBeLessThanOrEqual(80)
    expect(fitPassages(ranked, 3)).toEqual([])
  })

  it('[RAG27] quotes code that has fences', () => {
    const text = contextText([{ ...passage('a.md', 1, 1, 1), content: '````\ncode\n````\n' }])
    expect(text).toBe('a.md:1-1\n`````typescript\n````\ncode\n````\n`````')
  })
})

describe('ranking', () => {
  it('[RAG19] fuses by weighted reciprocal ranks and keeps the rank and score of each leg', () => {
    const [first, second] = fuse(
      {
        lexical: [
          { item: 1, score: 9 },
          { item: 2, score: 8 },
        ],
        vector: [{ item: 2, score: 0.7 }],
      },
      { lexical: 1, vector: 1, symbol: 0, path: 0 },
    )
    expect(first).toEqual({
      item: 2,
      score: 1 / 12 + 1 / 11,
      legs: [
        { leg: 'lexical', rank: 2, score: 8 },
        { leg: 'vector', rank: 1, score: 0.7 },
      ],
    })
    expect(second?.item).toBe(1)
    expect(legWeights.semantic.vector).toBeGreaterThan(legWeights.lexical.vector)
  })

  it.each([
    ['src/router.ts', 'typescript', 'code'],
    ['test/router.ts', 'typescript', 'test'],
    ['src/router.test.ts', 'typescript', 'test'],
    ['pkg/test_router.py', 'python', 'test'],
    ['examples/a.js', 'javascript', 'example'],
    ['a.d.ts', 'typescript', 'declaration'],
    ['README.md', 'markdown', 'prose'],
    ['package.json', 'json', 'data'],
  ])('[RAG20] %s is %s', (path, language, kind) => {
    expect(sourceKind(path, language)).toBe(kind)
  })

  it('[RAG20] the question says what is preferred', () => {
    expect(intentOf('how does the router match paths?')).toBe('code')
    expect(intentOf('which tests cover the router?')).toBe('test')
    expect(intentOf('what do the docs say about routes?')).toBe('prose')
    expect(intentOf('how do I install it')).toBe('prose')
    for (const [intent, kind] of [
      ['code', 'code'],
      ['test', 'test'],
      ['prose', 'prose'],
    ] as const) {
      expect(kindFactor(intent, kind)).toBe(1)
    }
  })
})

describe('relevance', () => {
  const evidence = {
    embedder: 'acme/unknown',
    coverage: 0,
    background: { mean: 0.7, deviation: 0.02, samples: 500 },
  }

  it('[RAG26] of an embedder nobody calibrated is told by what is usual', () => {
    expect(relevanceOf({ ...evidence, similarity: 0.85 })).toBe('high')
    expect(relevanceOf({ ...evidence, similarity: 0.77 })).toBe('medium')
    expect(relevanceOf({ ...evidence, similarity: 0.72 })).toBeNull()
  })

  it('[RAG26] of the hashed embedder is told by its own thresholds', () => {
    const hashed = { ...evidence, embedder: 'local/hashed' }
    expect(relevanceOf({ ...hashed, similarity: 0.7 })).toBe('high')
    expect(relevanceOf({ ...hashed, similarity: 0.05 })).toBeNull()
  })

  it('[RAG25] without vectors, or in a tiny workspace, is told by the words that were found', () => {
    expect(relevanceOf({ ...evidence, similarity: null, coverage: 0.9 })).toBe('high')
    expect(relevanceOf({ ...evidence, similarity: null, coverage: 0.1 })).toBeNull()
    const few = { mean: 0.7, deviation: 0.02, samples: 3 }
    expect(relevanceOf({ ...evidence, background: few, similarity: 0.71, coverage: 0.5 })).toBe('medium')
  })
})
