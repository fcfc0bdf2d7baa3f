import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packTerms, termsOfChunk, unpackTerms } from './chunk-terms.ts'
import { hashedDimensions, hashedVector } from './hashed-embedder.ts'
import type { ResidentChunk } from './index-segment.ts'
import { wordLegs } from './lexical-leg.ts'
import { analyseQuery } from './query-terms.ts'
import { createTopRanked } from './ranked.ts'
import { createThesaurus } from './thesaurus.ts'
import { vectorLeg } from './vector-leg.ts'
import { createWorkspaceIndex, type ResidentDocument, type WorkspaceIndex } from './workspace-index.ts'

const words = ['retry', 'delay', 'router', 'match', 'parse', 'header', 'socket', 'frame', 'token', 'cache']
const file = fc.record({
  path: fc.constantFrom('src/retry.ts', 'src/router.ts', 'test/router.test.ts', 'docs/router.md', 'a/b/c.go'),
  chunks: fc.array(fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 12 }), {
    minLength: 1,
    maxLength: 4,
  }),
})
type File = { path: string; chunks: string[][] }

const documentOf = ({ path }: File, index: number): ResidentDocument => ({
  id: `doc_${index}`,
  path: `${index}/${path}`,
  language: 'typescript',
  contentId: index,
  contentSha256: 'x',
})
const chunksOf = ({ chunks }: File, contentId: number): ResidentChunk[] =>
  chunks.map((own, ordinal) => {
    const content = own.join(' ')
    const symbols = own.slice(0, 1)
    return {
      chunkId: contentId * 100 + ordinal,
      contentId,
      terms: termsOfChunk({ content, symbols, header: '' }),
      vector: hashedVector(content),
    }
  })

const question = 'where does the router match retry frames'

/** What a search finds, by chunk id, so that numbers inside the index do not matter. */
function found(index: WorkspaceIndex) {
  const view = index.view()
  const analysed = analyseQuery(question, view, createThesaurus())
  const id = (item: number) => {
    const place = view.segments.findLast(({ base }) => base <= item)
    return place?.segment.chunkIds[item - place.base]
  }
  const scores = (leg: { item: number; score: number }[]) =>
    leg.map(({ item, score }) => `${id(item)} ${score.toFixed(4)}`).sort()
  const legs = wordLegs(view, analysed, 1_000)
  const vectors = vectorLeg(view, { vector: hashedVector(question), analysed }, { depth: 1_000, exact: true })
  return {
    lexical: scores(legs.lexical),
    symbol: scores(legs.symbol),
    path: scores(legs.path),
    vector: scores(vectors.ranked),
  }
}

describe('the index in memory', () => {
  it('[RAG22] finds the same whether it was loaded at once or grown, shrunk and merged file by file', () => {
    fc.assert(
      fc.property(
        fc.array(file, { minLength: 1, maxLength: 90 }),
        fc.infiniteStream(fc.boolean()),
        (files, coins) => {
          const keep = files.map(() => coins.next().value === true)
          const kept = files.flatMap((own, index) => (keep[index] ? [{ own, index }] : []))
          const loaded = createWorkspaceIndex({ dimensions: hashedDimensions })
          loaded.setDocuments(kept.map(({ own, index }) => documentOf(own, index)))
          loaded.addChunks(kept.flatMap(({ own, index }) => chunksOf(own, index)))
          loaded.publish()

          const grown = createWorkspaceIndex({ dimensions: hashedDimensions })
          for (const [at] of files.entries()) {
            const missing = grown.setDocuments(files.slice(0, at + 1).map(documentOf))
            for (const contentId of missing) grown.addChunks(chunksOf(files[contentId] as File, contentId))
            grown.publish()
          }
          for (const contentId of grown.setDocuments(kept.map(({ own, index }) => documentOf(own, index)))) {
            grown.addChunks(chunksOf(files[contentId] as File, contentId))
          }
          grown.publish()
          expect(grown.view().liveChunks).toBe(loaded.view().liveChunks)
          expect(grown.view().segments.length).toBeLessThanOrEqual(65)
          compareExceptRarity(found(grown), found(loaded))
        },
      ),
      { numRuns: 15 },
    )
  })

  /** Chunks that are gone still count for the rarity of a term until their segment is rewritten: scores may differ a bit. */
  function compareExceptRarity(one: ReturnType<typeof found>, other: ReturnType<typeof found>): void {
    const ids = (leg: string[]) => leg.map((entry) => entry.split(' ')[0]).sort()
    expect(one.vector).toEqual(other.vector)
    for (const leg of ['lexical', 'symbol', 'path'] as const) expect(ids(one[leg])).toEqual(ids(other[leg]))
  }

  it('[RAG22] a content that went and came back is loaded again', () => {
    const index = createWorkspaceIndex({ dimensions: hashedDimensions })
    const own: File = { path: 'a.ts', chunks: [['router']] }
    expect(index.setDocuments([documentOf(own, 1)])).toEqual([1])
    index.addChunks(chunksOf(own, 1))
    index.publish()
    index.setDocuments([])
    index.publish()
    expect(found(index).lexical).toEqual([])
    expect(index.setDocuments([documentOf(own, 1)])).toEqual([1])
    index.addChunks(chunksOf(own, 1))
    index.publish()
    expect(found(index).lexical).toHaveLength(1)
  })

  it('[RAG14] vectors that come later are found', () => {
    const index = createWorkspaceIndex({ dimensions: hashedDimensions })
    const own: File = { path: 'a.ts', chunks: [['router', 'match']] }
    index.setDocuments([documentOf(own, 1)])
    index.addChunks(chunksOf(own, 1).map((chunk) => ({ ...chunk, vector: null })))
    index.publish()
    expect([index.view().vectors, found(index).vector]).toEqual([0, []])
    index.setVectors([{ chunkId: 100, vector: hashedVector('router match') }])
    index.publish()
    expect([index.view().vectors, found(index).vector.length]).toEqual([1, 1])
  })

  it('[RAG18] choosing by bits finds nearly all that comparing every chunk finds', () => {
    const index = createWorkspaceIndex({ dimensions: hashedDimensions })
    const random = seeded(7)
    const dense = () =>
      unit(Float32Array.from({ length: hashedDimensions }, () => random() + random() + random() - 1.5))
    const own: File = { path: 'a.ts', chunks: [] }
    index.setDocuments([documentOf(own, 1)])
    const terms = termsOfChunk({ content: 'x', symbols: [], header: '' })
    index.addChunks(
      Array.from({ length: 12_000 }, (_, at) => ({ chunkId: at, contentId: 1, terms, vector: dense() })),
    )
    index.publish()
    const view = index.view()
    let shared = 0
    const questions = 10
    for (let turn = 0; turn < questions; turn += 1) {
      const query = { vector: dense(), analysed: analyseQuery('x', view, createThesaurus()) }
      const quick = vectorLeg(view, query, { depth: 20, exact: false })
      const exact = vectorLeg(view, query, { depth: 20, exact: true })
      expect([quick.exact, exact.exact]).toEqual([false, true])
      const items = new Set(exact.ranked.map(({ item }) => item))
      shared += quick.ranked.filter(({ item }) => items.has(item)).length
    }
    // Random vectors have no neighbours to speak of, which is the hardest case; real ones are far easier.
    expect(shared / (questions * 20)).toBeGreaterThan(0.6)
  })
})

describe('stored terms', () => {
  it('[RAG9] come back as they were', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 400 }),
        fc.array(fc.string({ maxLength: 30 }), { maxLength: 8 }),
        fc.string({ maxLength: 60 }),
        (content, symbols, header) => {
          const terms = termsOfChunk({ content, symbols, header })
          expect(unpackTerms(packTerms(terms))).toEqual(terms)
        },
      ),
    )
  })

  it('[RAG9] of another format are refused', () => {
    const packed = packTerms(termsOfChunk({ content: 'a', symbols: [], header: '' }))
    packed[0] = 9
    expect(() => unpackTerms(packed)).toThrow(RangeError)
  })
})

describe('the best of many', () => {
  it('[RAG18] are those that sorting gives, ties in the order of arrival', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 20 })),
        fc.integer({ min: 0, max: 12 }),
        (scores, limit) => {
          const top = createTopRanked<number>(limit)
          for (const [item, score] of scores.entries()) top.offer(item, score)
          const sorted = scores
            .map((score, item) => ({ item, score }))
            .sort((a, b) => b.score - a.score || a.item - b.item)
          expect(top.list()).toEqual(sorted.slice(0, limit))
        },
      ),
    )
  })
})

/** A small linear congruential generator: the same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}
