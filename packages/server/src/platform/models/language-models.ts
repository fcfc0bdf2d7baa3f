import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelRecord } from '@atelier/contract'
import type { AnswerLimits } from './answer-watch.ts'
import { lazyModel } from './lazy-model.ts'
import { createLocalModel, localModelKey } from './local/local-model.ts'
import type { LocalDiscovery } from './local-discovery.ts'
import type { ModelRegistry } from './model-registry.ts'
import type { ModelsEnvironment } from './models-environment.ts'
import { ProviderError } from './provider-error.ts'
import { connectionTo, hostedProviders, loadCompatible } from './providers.ts'
import { guardModel } from './stream-guard.ts'

export interface LanguageModels {
  /** The guarded model of a record, with one of its provider's keys. Throws ProviderError of kind `key` or `request` when it cannot be reached at all. */
  languageModel(record: Pick<ModelRecord, 'key' | 'provider' | 'id'>, keyIndex?: number): LanguageModelV4
}

/** Makes each model once: they hold no state of a conversation. */
export function createLanguageModels(parts: Parts): LanguageModels {
  const limits = limitsFrom(parts.environment)
  const made = new Map<string, LanguageModelV4>()
  return {
    languageModel({ key, provider }, keyIndex = 0) {
      const id = `${keyIndex} ${key}`
      // A server beside this one may come back at another address; its models are not kept.
      const model = made.get(id) ?? make(key, provider, keyIndex)
      if (isHosted(provider)) made.set(id, model)
      return model
    },
  }

  function make(key: string, provider: string, keyIndex: number): LanguageModelV4 {
    const origin = { provider, model: key }
    if (key === localModelKey) return guardModel(createLocalModel(), { limits, origin })
    const model = isHosted(provider) ? hostedModel(key, keyIndex, parts) : discoveredModel(key, parts)
    return guardModel(model, { limits, origin })
  }
}

interface Parts {
  environment: ModelsEnvironment
  registry: ModelRegistry
  discovery: LocalDiscovery
  fetch: typeof globalThis.fetch
}

function hostedModel(
  key: string,
  keyIndex: number,
  { environment, registry, fetch }: Parts,
): LanguageModelV4 {
  const entry = registry.find(key)
  const provider = hostedProviders.find(({ id }) => id === entry?.provider)
  if (entry === undefined || provider === undefined) throw unknownModel(key)
  const connection = connectionTo(provider, environment, fetch, keyIndex)
  if (connection === undefined) {
    throw new ProviderError('key', { provider: provider.id, model: key }, { reason: 'not_configured' })
  }
  return lazyModel(provider.id, entry.model, () => provider.load(connection, entry.model, environment))
}

function discoveredModel(key: string, { discovery, fetch }: Parts): LanguageModelV4 {
  for (const server of discovery.servers()) {
    const found = server.models.find((model) => model.key === key)
    if (found === undefined) continue
    const connection = { apiKey: server.apiKey ?? 'none', baseURL: server.baseURL, fetch }
    return lazyModel(server.id, found.model, () => loadCompatible(connection, server.id, found.model))
  }
  throw unknownModel(key)
}

function unknownModel(key: string): ProviderError {
  return new ProviderError('request', { provider: 'atelier', model: key }, { reason: 'model_not_found' })
}

function isHosted(provider: string): boolean {
  return hostedProviders.some(({ id }) => id === provider)
}

function limitsFrom(environment: ModelsEnvironment): AnswerLimits {
  return {
    firstPart: environment.MODEL_FIRST_TOKEN_TIMEOUT_SECONDS * 1000,
    idle: environment.MODEL_IDLE_TIMEOUT_SECONDS * 1000,
    total: environment.MODEL_TOTAL_TIMEOUT_SECONDS * 1000,
  }
}
