import { setTimeout as wait } from 'node:timers/promises'
import type { Embedder, EmbeddingUsage } from './embedder.ts'
import type { ConfiguredEmbeddingModel } from './embedding-models.ts'
import { ProviderError, toProviderError } from './provider-error.ts'
import { estimateTokens } from './usage.ts'

/** One batch is a fraction of a second of work for a provider; local models on a CPU take longer. */
const batchMilliseconds = 60_000
const mostAttempts = 4
const firstDelayMilliseconds = 500
const longestDelayMilliseconds = 30_000
/** Requests under way at once, of one call. */
const parallelBatches = 2
/** Most tokens of one request that every provider takes. */
const mostTokensInBatch = 50_000

/**
 * An embedder on a provider's model: batches, a time-out and bounded retries for each, `Retry-After` honoured. Texts
 * that are too long for the model are cut. Vectors come back with unit length.
 */
export function createProviderEmbedder(
  configured: ConfiguredEmbeddingModel,
  options: { delay?: (milliseconds: number, signal: AbortSignal) => Promise<unknown> } = {},
): Embedder {
  const delay = options.delay ?? ((milliseconds, signal) => wait(milliseconds, undefined, { signal }))
  return {
    id: configured.id,
    dimensions: configured.dimensions,
    lexical: false,
    pricing: configured.price === null ? null : { input: configured.price, output: '0' },
    async embed(texts, kind, signal, onUsage) {
      const vectors = new Array<Float32Array>(texts.length)
      const batches = batchesOf(
        texts.map((text) => cut(text, configured.maxInputTokens)),
        configured.maxBatch,
      )
      const controller = new AbortController()
      const joined = AbortSignal.any([signal, controller.signal])
      const work = batches.values()
      const worker = async () => {
        for (const { start, values } of work) {
          const embedded = await embedBatch({ configured, values, kind, signal: joined, delay, onUsage })
          for (const [index, vector] of embedded.entries()) vectors[start + index] = vector
        }
      }
      try {
        await Promise.all(Array.from({ length: parallelBatches }, worker))
      } catch (error) {
        // The other worker must not go on for a result that nobody gets.
        controller.abort(error)
        throw error
      }
      return vectors
    },
  }
}

interface Batch {
  start: number
  values: string[]
}

function batchesOf(texts: readonly string[], maxBatch: number): Batch[] {
  const batches: Batch[] = []
  let tokens = 0
  for (const [index, text] of texts.entries()) {
    const cost = estimateTokens(text)
    const last = batches.at(-1)
    if (last === undefined || last.values.length >= maxBatch || tokens + cost > mostTokensInBatch) {
      batches.push({ start: index, values: [text] })
      tokens = cost
    } else {
      last.values.push(text)
      tokens += cost
    }
  }
  return batches
}

/** Code has about three characters a token at worst; providers refuse an empty text. */
function cut(text: string, maxTokens: number): string {
  const short = text.length > maxTokens * 3 ? text.slice(0, maxTokens * 3) : text
  return short.trim() === '' ? '(empty)' : short
}

async function embedBatch(options: {
  configured: ConfiguredEmbeddingModel
  values: string[]
  kind: 'query' | 'document'
  signal: AbortSignal
  delay: (milliseconds: number, signal: AbortSignal) => Promise<unknown>
  onUsage: ((usage: EmbeddingUsage) => void) | undefined
}): Promise<Float32Array[]> {
  const { configured, values, kind, signal, delay, onUsage } = options
  const origin = { provider: configured.id.split('/')[0] ?? configured.id, model: configured.id }
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted()
    const timeout = AbortSignal.timeout(batchMilliseconds)
    try {
      const { embeddings, usage } = await configured.model.doEmbed({
        values,
        abortSignal: AbortSignal.any([signal, timeout]),
        providerOptions: configured.optionsFor(kind),
      })
      onUsage?.(usageOf(usage?.tokens, values))
      return checked(embeddings, values.length, configured.dimensions, origin)
    } catch (error) {
      signal.throwIfAborted()
      const failure = timeout.aborted
        ? new ProviderError('timeout', origin, { reason: 'batch_timeout' })
        : toProviderError(error, origin)
      const pause = pauseBefore(failure, attempt)
      if (pause === undefined) throw failure
      await delay(pause, signal)
    }
  }
}

/** Servers that do not count report 0, or nothing. */
function usageOf(reported: number | undefined, values: readonly string[]): EmbeddingUsage {
  if (reported !== undefined && Number.isSafeInteger(reported) && reported > 0) {
    return { tokens: reported, estimated: false }
  }
  return { tokens: values.reduce((sum, text) => sum + estimateTokens(text), 0), estimated: true }
}

/** Undefined: no further attempt is worth it. Full jitter, so that many indexers do not come back together. */
function pauseBefore({ kind, retryAfterMilliseconds }: ProviderError, attempt: number): number | undefined {
  if (attempt >= mostAttempts || (kind !== 'transient' && kind !== 'timeout')) return undefined
  const asked = retryAfterMilliseconds ?? 0
  if (asked > longestDelayMilliseconds) return undefined
  return (
    asked + Math.random() * Math.min(longestDelayMilliseconds, firstDelayMilliseconds * 2 ** (attempt - 1))
  )
}

/** A server with another model than configured must not fill an index with vectors of another space. */
function checked(
  embeddings: readonly (readonly number[])[],
  count: number,
  dimensions: number,
  origin: { provider: string; model: string },
): Float32Array[] {
  if (embeddings.length !== count) throw new ProviderError('transient', origin, { reason: 'vectors_missing' })
  return embeddings.map((embedding) => {
    if (embedding.length !== dimensions)
      throw new ProviderError('request', origin, { reason: 'wrong_dimensions' })
    return unit(embedding)
  })
}

function unit(embedding: readonly number[]): Float32Array {
  const length = Math.hypot(...embedding)
  const vector = Float32Array.from(embedding)
  return length === 0 ? vector : vector.map((value) => value / length)
}
