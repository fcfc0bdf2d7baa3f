import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelCatalog, ModelRecord } from '@atelier/contract'

/** The part of the models' seam that the gateway needs. */
export interface ModelSource {
  /** never waits */
  catalog(): ModelCatalog
  /** Looks for servers on this machine first, for half a second at most. */
  freshCatalog(): Promise<ModelCatalog>
  find(key: string): ModelRecord | undefined
  /** A model whose `doStream` resolves with the first content and whose ends are honest. */
  languageModel(key: string, keyIndex?: number): LanguageModelV4
  /** how many keys a provider has here; 1 where it needs none */
  keysOf(provider: string): number
}
