import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { Embedder } from '../../platform/models/embedder.ts'
import type { EmbedFor } from './embed-for.ts'
import { embeddingText } from './embedding-text.ts'
import type { RetrievalStore } from './retrieval-store.ts'

/** Chunks that are read, embedded and stored together. */
const chunksPerBatch = 256

export interface ReembedOptions {
  signal: AbortSignal
  onProgress?(progress: { done: number; total: number }): void
}

/**
 * Gives every chunk that lacks one a vector of the present embedder, then drops the vectors of others. Search goes on
 * meanwhile, by words until the new vectors are nearly all there. May be cut off and started again at any time. Rejects with
 * what the embedder throws, or with the signal's reason.
 */
export function createReembed(dependencies: { store: RetrievalStore; embedder: Embedder; embed: EmbedFor }) {
  const { store, embedder, embed } = dependencies
  const space = { model: embedder.id, dimensions: embedder.dimensions }
  return async (
    scope: WorkspaceScope,
    { signal, onProgress }: ReembedOptions,
  ): Promise<{ embedded: number }> => {
    const total = await store.countWithoutVectors(scope, space)
    let embedded = 0
    for (let after = 0; ; ) {
      signal.throwIfAborted()
      const chunks = await store.withoutVectors(scope, space, after, chunksPerBatch)
      const last = chunks.at(-1)
      if (last === undefined) break
      const vectors = await embed(scope, chunks.map(embeddingText), 'document', signal)
      const rows = chunks.flatMap(({ id }, index) => {
        const vector = vectors[index]
        return vector === undefined ? [] : [{ chunkId: id, vector }]
      })
      await store.writeVectors(scope, space, rows)
      after = last.id
      embedded += rows.length
      onProgress?.({ done: embedded, total: Math.max(total, embedded) })
    }
    await store.keepOnly(scope, space)
    return { embedded }
  }
}
