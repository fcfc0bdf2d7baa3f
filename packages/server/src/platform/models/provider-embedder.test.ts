import { describe, expect, it } from 'vitest'
import type { EmbeddingUsage } from './embedder.ts'
import type { ConfiguredEmbeddingModel } from './embedding-models.ts'
import { configuredEmbeddingModel } from './embedding-models.ts'
import { ModelsEnvironment } from './models-environment.ts'
import { createProviderEmbedder } from './provider-embedder.ts'
import { ProviderError } from './provider-error.ts'

const signal = new AbortController().signal
const origin = { provider: 'scripted', model: 'm' }

/** Embeds a text as [its length, 1]; `failures` come first, one a request. */
function scripted(
  failures: Error[] = [],
  change: Partial<ConfiguredEmbeddingModel> = {},
  reported: number[] = [],
) {
  const requests: { values: string[]; options: unknown }[] = []
  const configured: ConfiguredEmbeddingModel = {
    id: 'scripted/m',
    dimensions: 2,
    adjustable: false,
    maxBatch: 3,
    maxInputTokens: 100,
    price: '0.02',
    optionsFor: (kind) => ({ scripted: { kind } }),
    model: {
      provider: 'scripted',
      modelId: 'm',
      async doEmbed({ values, providerOptions }) {
        requests.push({ values, options: providerOptions })
        const failure = failures.shift()
        if (failure !== undefined) throw failure
        const tokens = reported.shift()
        const usage = tokens === undefined ? {} : { usage: { tokens } }
        return { embeddings: values.map((text) => [text.length, 1]), warnings: [], ...usage }
      },
    },
    ...change,
  }
  const delays: number[] = []
  const delay = async (milliseconds: number) => void delays.push(milliseconds)
  return { embedder: createProviderEmbedder(configured, { delay }), requests, delays }
}

const busy = (retryAfterMilliseconds?: number) =>
  new ProviderError('transient', origin, {
    status: 429,
    ...(retryAfterMilliseconds && { retryAfterMilliseconds }),
  })

describe('embedding with a provider', () => {
  it('[MOD24] takes bounded batches and gives the vectors in order, with unit length', async () => {
    const { embedder, requests } = scripted()
    const texts = ['a', 'bb', 'ccc', 'dddd', 'eeeee', 'ffffff', 'ggggggg']
    const vectors = await embedder.embed(texts, 'document', signal)
    expect(requests.map((request) => request.values.length)).toEqual([3, 3, 1])
    for (const [index, vector] of vectors.entries()) {
      expect(Math.hypot(...vector)).toBeCloseTo(1, 6)
      expect((vector[0] ?? 0) / (vector[1] ?? 1)).toBeCloseTo(texts[index]?.length ?? 0, 4)
    }
    expect(requests[0]?.options).toEqual({ scripted: { kind: 'document' } })
  })

  it('[MOD24] cuts what is too long for the model and never sends an empty text', async () => {
    const { embedder, requests } = scripted()
    await embedder.embed(['x'.repeat(5000), '  '], 'document', signal)
    expect(requests[0]?.values.map((text) => text.length)).toEqual([300, 7])
  })

  it('[MOD24] tries again as the provider asks, a bounded number of times', async () => {
    const passing = scripted([busy(700), busy()])
    expect(await passing.embedder.embed(['a'], 'query', signal)).toHaveLength(1)
    expect(passing.delays[0]).toBeGreaterThanOrEqual(700)
    const failing = scripted(Array.from({ length: 9 }, () => busy()))
    await expect(failing.embedder.embed(['a'], 'query', signal)).rejects.toMatchObject({
      kind: 'transient',
      status: 429,
    })
    expect(failing.requests).toHaveLength(4)
  })

  it('[MOD24] does not repeat what cannot get better, nor wait longer than is sensible', async () => {
    const key = scripted([new ProviderError('key', origin)])
    await expect(key.embedder.embed(['a'], 'query', signal)).rejects.toMatchObject({ kind: 'key' })
    expect(key.requests).toHaveLength(1)
    const later = scripted([busy(600_000)])
    await expect(later.embedder.embed(['a'], 'query', signal)).rejects.toMatchObject({
      retryAfterMilliseconds: 600_000,
    })
    expect(later.delays).toEqual([])
  })

  it('[MOD24] stops at an abort', async () => {
    const reason = new Error('stopped')
    await expect(scripted().embedder.embed(['a'], 'query', AbortSignal.abort(reason))).rejects.toBe(reason)
  })

  it('[LED11] tells the tokens that the provider reports, and counts and marks those that it does not', async () => {
    const reported = scripted([], {}, [7, 5])
    const heard: EmbeddingUsage[] = []
    const texts = ['aaaa', 'b', 'c', 'dddddddd']
    await reported.embedder.embed(texts, 'query', signal, (usage) => heard.push(usage))
    expect(heard).toEqual([
      { tokens: 7, estimated: false },
      { tokens: 5, estimated: false },
    ])
    const silent: EmbeddingUsage[] = []
    await scripted([], {}, [0]).embedder.embed(texts, 'query', signal, (usage) => silent.push(usage))
    expect(silent).toEqual([
      { tokens: 3, estimated: true },
      { tokens: 2, estimated: true },
    ])
  })

  it('[MOD23] refuses vectors of another length', async () => {
    const { embedder } = scripted([], { dimensions: 3 })
    await expect(embedder.embed(['a'], 'query', signal)).rejects.toMatchObject({
      kind: 'request',
      reason: 'wrong_dimensions',
    })
  })

  it('[MOD23] is configured by name, with a shorter vector where the model can', () => {
    const configured = (environment: Record<string, string>) =>
      configuredEmbeddingModel(ModelsEnvironment.parse(environment), fetch)
    expect(configured({})).toBeUndefined()
    expect(configured({ EMBEDDING_MODEL: 'local/hashed' })).toBeUndefined()
    const openai = { OPENAI_API_KEY: 'k', EMBEDDING_MODEL: 'openai/text-embedding-3-small' }
    expect(configured(openai)).toMatchObject({ id: 'openai/text-embedding-3-small', dimensions: 1536 })
    const short = configured({ ...openai, EMBEDDING_DIMENSIONS: '256' })
    expect(short).toMatchObject({ id: 'openai/text-embedding-3-small@256', dimensions: 256 })
    expect(short?.optionsFor('query')).toEqual({ openai: { dimensions: 256 } })
  })

  it('[MOD23] without a key fails with `key`, and only when it is used', async () => {
    const environment = ModelsEnvironment.parse({ EMBEDDING_MODEL: 'voyage/voyage-code-3' })
    const configured = configuredEmbeddingModel(environment, fetch)
    expect(configured).toBeDefined()
    if (configured === undefined) return
    await expect(createProviderEmbedder(configured).embed(['a'], 'query', signal)).rejects.toMatchObject({
      kind: 'key',
    })
  })
})
