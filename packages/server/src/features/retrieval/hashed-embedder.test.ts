import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createHashedEmbedder,
  createHashedEmbeddingModel,
  hashedDimensions,
  hashedVector,
} from './hashed-embedder.ts'

const cosine = (left: Float32Array, right: Float32Array) =>
  left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0)

describe('the hashed embedder', () => {
  it('[RAG10] gives vectors of unit length, or of zeros for a text without words', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        const vector = hashedVector(text)
        const length = Math.hypot(...vector)
        expect(vector).toHaveLength(hashedDimensions)
        if (length !== 0) expect(length).toBeCloseTo(1, 5)
      }),
    )
    expect(Math.hypot(...hashedVector('the of a'))).toBe(0)
  })

  it('[RAG10] is the same on every machine', () => {
    const vector = hashedVector('parse the Retry-After header')
    const present = [...vector.keys()].filter((at) => vector[at] !== 0)
    // Computed once; a change of these means that stored vectors no longer fit the questions.
    expect(present.slice(0, 5)).toEqual([23, 24, 32, 42, 44])
    expect(vector[present[0] ?? 0]).toBeCloseTo(-0.136677, 5)
  })

  it('[RAG10] texts that share words are closer, a title counts most, and the order of words does not', () => {
    const question = hashedVector('where is the retry delay computed?')
    const close = hashedVector(
      '# computeRetryDelay\nfunction computeRetryDelay(attempt) { return base * 2 ** attempt }',
    )
    const untitled = hashedVector('function computeRetryDelay(attempt) { return base * 2 ** attempt }')
    const far = hashedVector('function renderButton(label) { return makeElement(button, label) }')
    expect(cosine(question, close)).toBeGreaterThan(cosine(question, untitled))
    expect(cosine(question, untitled)).toBeGreaterThan(cosine(question, far) + 0.1)
    expect(cosine(hashedVector('alpha beta'), hashedVector('beta alpha'))).toBeCloseTo(1, 5)
  })

  it('[RAG10] is an AI SDK embedding model', async () => {
    const model = createHashedEmbeddingModel()
    const { embeddings, warnings } = await model.doEmbed({ values: ['one', 'two'], dimensions: 256 })
    expect(model.specificationVersion).toBe('v4')
    expect(embeddings.map((embedding) => embedding.length)).toEqual([hashedDimensions, hashedDimensions])
    expect(embeddings[0]).toEqual(Array.from(hashedVector('one')))
    expect(warnings).toMatchObject([{ type: 'unsupported', feature: 'dimensions' }])
  })

  it('[RAG16] stops when told to, between turns', async () => {
    const controller = new AbortController()
    const work = createHashedEmbedder().embed(
      new Array(10_000).fill('some words'),
      'document',
      controller.signal,
    )
    controller.abort(new Error('enough'))
    await expect(work).rejects.toThrow('enough')
  })
})
