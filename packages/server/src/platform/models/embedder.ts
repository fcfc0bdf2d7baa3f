/**
 * What turns text into vectors: the local hashed embedder or a provider's model.
 * `id` names the vectors' space: vectors of different ids are never compared.
 */
export interface Embedder {
  readonly id: string
  readonly dimensions: number
  /** true: similar vectors mean shared words, not shared meaning */
  readonly lexical: boolean
  /** One unit-length vector a text, in order. Rejects with ProviderError, or with the signal's reason when aborted. */
  embed(texts: string[], kind: 'query' | 'document', signal: AbortSignal): Promise<Float32Array[]>
}
