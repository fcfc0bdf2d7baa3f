import type { TokenRates } from '@atelier/contract'

/**
 * What turns text into vectors: the local hashed embedder or a provider's model.
 * `id` names the vectors' space: vectors of different ids are never compared.
 */
export interface Embedder {
  readonly id: string
  readonly dimensions: number
  /** true: similar vectors mean shared words, not shared meaning */
  readonly lexical: boolean
  /** null: the price is not known, which is not free */
  readonly pricing: TokenRates | null
  /**
   * One unit-length vector a text, in order. Rejects with ProviderError, or with the signal's reason when aborted.
   * `onUsage` hears of each request that a provider has answered, also where a later one fails.
   */
  embed(
    texts: string[],
    kind: 'query' | 'document',
    signal: AbortSignal,
    onUsage?: (usage: EmbeddingUsage) => void,
  ): Promise<Float32Array[]>
}

export interface EmbeddingUsage {
  tokens: number
  /** counted by us, because the provider did not report */
  estimated: boolean
}
