import type { EmbeddingModelV4 } from '@ai-sdk/provider'
import type { Embedder } from './embedder.ts'
import { type KnownEmbeddingModel, knownEmbeddingModels } from './known-embedding-models.ts'
import type { ModelsEnvironment } from './models-environment.ts'
import { createProviderEmbedder } from './provider-embedder.ts'
import { ProviderError } from './provider-error.ts'
import { addressOf, type Connection, connectionTo, hostedProviders } from './providers.ts'

/** The common part of the AI SDK's embedding interfaces: Voyage's package implements an older one. */
export type EmbeddingModel = Pick<EmbeddingModelV4, 'doEmbed' | 'modelId' | 'provider'>

export interface ConfiguredEmbeddingModel extends KnownEmbeddingModel {
  /** `provider/model`, with `@n` after it where n is not the model's own length */
  id: string
  model: EmbeddingModel
  /** what tells the provider that a text is a question or a document */
  optionsFor(kind: 'query' | 'document'): Record<string, Record<string, string | number>>
}

/** What is assumed of a model that nobody described: small enough for any server. */
const unknownModel = { adjustable: false, maxBatch: 16, maxInputTokens: 512, price: null }

/** The embedder that `EMBEDDING_MODEL` names, or undefined for the lexical one. Its calls fail with `key` without a key. */
export function createConfiguredEmbedder(options: {
  environment: ModelsEnvironment
  fetch: typeof globalThis.fetch
}): Embedder | undefined {
  const configured = configuredEmbeddingModel(options.environment, options.fetch)
  return configured === undefined ? undefined : createProviderEmbedder(configured)
}

export function configuredEmbeddingModel(
  environment: ModelsEnvironment,
  fetch: typeof globalThis.fetch,
): ConfiguredEmbeddingModel | undefined {
  const { EMBEDDING_MODEL: name, EMBEDDING_DIMENSIONS: wished } = environment
  if (name === undefined || name === 'local/hashed') return undefined
  const [provider = '', ...rest] = name.split('/')
  const known = knownEmbeddingModels[name]
  const dimensions = wished ?? known?.dimensions
  if (dimensions === undefined) throw new RangeError(`the dimensions of ${name} are not known`)
  const changed = known !== undefined && dimensions !== known.dimensions
  const model = embeddingModel(provider, rest.join('/'), environment, fetch)
  return {
    ...(known ?? unknownModel),
    dimensions,
    id: changed ? `${name}@${dimensions}` : name,
    model,
    optionsFor: (kind) => providerOptions(provider, kind, changed ? dimensions : undefined),
  }
}

/** The provider's package is loaded by the first text. */
function embeddingModel(
  provider: string,
  model: string,
  environment: ModelsEnvironment,
  fetch: typeof globalThis.fetch,
): EmbeddingModel {
  const connection = connectionFor(provider, environment, fetch)
  // Configuration that lacks its key must not stop the server: search says what is missing.
  const load =
    connection === undefined
      ? () => Promise.reject(new ProviderError('key', { provider, model }, { reason: 'not_configured' }))
      : () => loadEmbeddingModel(provider, model, connection)
  let loaded: Promise<EmbeddingModel> | undefined
  return {
    provider,
    modelId: model,
    async doEmbed(call) {
      loaded ??= load()
      return (await loaded).doEmbed(call)
    },
  }
}

async function loadEmbeddingModel(
  provider: string,
  model: string,
  connection: Connection,
): Promise<EmbeddingModel> {
  switch (provider) {
    case 'openai':
      return (await import('@ai-sdk/openai')).createOpenAI(connection).embeddingModel(model)
    case 'google':
      return (await import('@ai-sdk/google')).createGoogle(connection).embeddingModel(model)
    case 'mistral':
      return (await import('@ai-sdk/mistral')).createMistral(connection).embeddingModel(model)
    case 'voyage':
      return (await import('voyage-ai-provider'))
        .createVoyage(connection)
        .embeddingModel(model) as EmbeddingModel
    default: {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      return createOpenAICompatible({ ...connection, name: provider }).embeddingModel(model)
    }
  }
}

const voyage = {
  keyVariable: 'VOYAGE_API_KEY',
  addressVariable: 'VOYAGE_BASE_URL',
  address: 'https://api.voyageai.com/v1',
} as const

function connectionFor(
  provider: string,
  environment: ModelsEnvironment,
  fetch: typeof globalThis.fetch,
): Connection | undefined {
  if (provider === 'voyage') return connectionTo(voyage, environment, fetch)
  if (provider === 'ollama') {
    return { apiKey: 'none', baseURL: addressOf(environment.OLLAMA_BASE_URL, 'http://ollama/v1'), fetch }
  }
  if (provider === 'openai-compatible') {
    const baseURL = environment.OPENAI_COMPATIBLE_BASE_URL
    if (baseURL === undefined) return undefined
    return { apiKey: environment.OPENAI_COMPATIBLE_API_KEY ?? 'none', baseURL, fetch }
  }
  const hosted = hostedProviders.find(({ id }) => id === provider)
  return hosted === undefined ? undefined : connectionTo(hosted, environment, fetch)
}

/** Each provider's own names for the length of the vectors and for what the text is. */
function providerOptions(
  provider: string,
  kind: 'query' | 'document',
  dimensions: number | undefined,
): Record<string, Record<string, string | number>> {
  const length = (name: string) => (dimensions === undefined ? {} : { [name]: dimensions })
  switch (provider) {
    case 'openai':
      return { openai: length('dimensions') }
    case 'google':
      return {
        google: {
          ...length('outputDimensionality'),
          taskType: kind === 'query' ? 'CODE_RETRIEVAL_QUERY' : 'RETRIEVAL_DOCUMENT',
        },
      }
    case 'mistral':
      return { mistral: length('outputDimension') }
    case 'voyage':
      return { voyage: { ...length('outputDimension'), inputType: kind } }
    default:
      return {}
  }
}
