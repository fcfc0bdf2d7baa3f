import { newId } from '../../base/ids.ts'
import { costOf } from '../../platform/models/cost.ts'
import type { Embedder, EmbeddingUsage } from '../../platform/models/embedder.ts'
import { noUsage } from '../../platform/models/usage.ts'
import type { CallOwner, Ledger } from './ledger.ts'

/** Providers are sent a word for an empty text, and count a mark or two around each. */
const fewestBytes = 16

/** An embedder whose calls keep to their owner's budgets and stand in the ledger. */
export interface ChargedEmbedder extends Pick<Embedder, 'id' | 'dimensions'> {
  /** Rejects as an embedder does, and with RATE_LIMITED when the budgets do not suffice. */
  embed(
    owner: CallOwner,
    texts: string[],
    kind: 'query' | 'document',
    signal: AbortSignal,
  ): Promise<{ vectors: Float32Array[]; usage: EmbeddingUsage }>
}

export function createChargedEmbedder(dependencies: { embedder: Embedder; ledger: Ledger }): ChargedEmbedder {
  const { embedder, ledger } = dependencies
  const { id, dimensions, pricing } = embedder
  const model = { key: id, id, pricing, maxOutputTokens: null }
  return {
    id,
    dimensions,
    async embed({ userId, workspaceId, apiKeyId }, texts, kind, signal) {
      const owner = { userId, workspaceId, apiKeyId }
      const promptBytes = texts.reduce((sum, text) => sum + Math.max(fewestBytes, Buffer.byteLength(text)), 0)
      const leave = await ledger.reserve(owner, { model, promptBytes, maxTokens: 0 })
      const used: EmbeddingUsage = { tokens: 0, estimated: false }
      const settle = (finishReason: 'stop' | 'error') => {
        const usage = { ...noUsage, inputTokens: used.tokens, estimated: used.estimated }
        const cost = costOf(usage, pricing)
        ledger.settle(leave, { ...owner, runId: newId('run'), model, finishReason, usage, cost })
      }
      try {
        const vectors = await embedder.embed(texts, kind, signal, ({ tokens, estimated }) => {
          used.tokens += tokens
          used.estimated ||= estimated
        })
        settle('stop')
        return { vectors, usage: used }
      } catch (error) {
        // What the provider has answered before is paid for.
        if (used.tokens > 0) settle('error')
        else ledger.release(leave)
        throw error
      }
    },
  }
}
