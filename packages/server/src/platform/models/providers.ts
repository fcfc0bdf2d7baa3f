import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { ModelsEnvironment } from './models-environment.ts'

/** What a provider package needs to reach its service. */
export interface Connection {
  apiKey: string
  /** with the version in its path: `https://api.openai.com/v1` */
  baseURL: string
  fetch: typeof globalThis.fetch
}

type Setting = Exclude<keyof ModelsEnvironment, 'OPENAI_API' | 'LOCAL_MODEL_DISCOVERY'>

/** A company whose hosted models the registry lists. */
export interface HostedProvider {
  readonly id: string
  readonly name: string
  readonly company: string
  readonly keyVariable: Setting
  readonly addressVariable: Setting
  /** its own address */
  readonly address: string
  /** also embeds text */
  readonly embeddings: boolean
  /** Loads the provider's package, which takes tens of milliseconds and megabytes, and makes one of its models. */
  load(connection: Connection, model: string, environment: ModelsEnvironment): Promise<LanguageModelV4>
}

/** Every hosted provider, one row each: a new one needs its package, two variables and this. */
export const hostedProviders: readonly HostedProvider[] = [
  {
    id: 'openai',
    name: 'OpenAI',
    company: 'OpenAI',
    keyVariable: 'OPENAI_API_KEY',
    addressVariable: 'OPENAI_BASE_URL',
    address: 'https://api.openai.com/v1',
    embeddings: true,
    async load(connection, model, environment) {
      const provider = (await import('@ai-sdk/openai')).createOpenAI(connection)
      return speaksResponses(connection.baseURL, this.address, environment)
        ? keepingNothing(provider.responses(model))
        : provider.chat(model)
    },
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    company: 'Anthropic',
    keyVariable: 'ANTHROPIC_API_KEY',
    addressVariable: 'ANTHROPIC_BASE_URL',
    address: 'https://api.anthropic.com/v1',
    embeddings: false,
    load: async (connection, model) =>
      (await import('@ai-sdk/anthropic')).createAnthropic(connection).languageModel(model),
  },
  {
    id: 'google',
    name: 'Google Gemini',
    company: 'Google',
    keyVariable: 'GOOGLE_GENERATIVE_AI_API_KEY',
    addressVariable: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    address: 'https://generativelanguage.googleapis.com/v1beta',
    embeddings: true,
    load: async (connection, model) =>
      (await import('@ai-sdk/google')).createGoogle(connection).languageModel(model),
  },
  {
    id: 'meta',
    name: 'Meta',
    company: 'Meta',
    keyVariable: 'MODEL_API_KEY',
    addressVariable: 'META_BASE_URL',
    address: 'https://api.meta.ai/v1',
    embeddings: false,
    load: (connection, model) => loadCompatible(connection, 'meta', model),
  },
  {
    id: 'mistral',
    name: 'Mistral',
    company: 'Mistral AI',
    keyVariable: 'MISTRAL_API_KEY',
    addressVariable: 'MISTRAL_BASE_URL',
    address: 'https://api.mistral.ai/v1',
    embeddings: true,
    load: async (connection, model) =>
      (await import('@ai-sdk/mistral')).createMistral(connection).languageModel(model),
  },
  {
    id: 'xai',
    name: 'xAI',
    company: 'xAI',
    keyVariable: 'XAI_API_KEY',
    addressVariable: 'XAI_BASE_URL',
    address: 'https://api.x.ai/v1',
    embeddings: false,
    load: async (connection, model) =>
      (await import('@ai-sdk/xai')).createXai(connection).languageModel(model),
  },
  {
    id: 'deepseek',
    name: 'DeepSeek',
    company: 'DeepSeek',
    keyVariable: 'DEEPSEEK_API_KEY',
    addressVariable: 'DEEPSEEK_BASE_URL',
    address: 'https://api.deepseek.com',
    embeddings: false,
    load: async (connection, model) =>
      (await import('@ai-sdk/deepseek')).createDeepSeek(connection).languageModel(model),
  },
  {
    id: 'groq',
    name: 'Groq',
    company: 'Groq',
    keyVariable: 'GROQ_API_KEY',
    addressVariable: 'GROQ_BASE_URL',
    address: 'https://api.groq.com/openai/v1',
    embeddings: false,
    load: async (connection, model) =>
      (await import('@ai-sdk/groq')).createGroq(connection).languageModel(model),
  },
]

/**
 * The same model, of whose calls OpenAI keeps nothing. Its reasoning then comes encrypted with the answer and goes back
 * whole: a reference to what is kept would be void with another account's key, and after 30 days.
 */
function keepingNothing(model: LanguageModelV4): LanguageModelV4 {
  const { specificationVersion, provider, modelId, supportedUrls } = model
  const unkept = (call: LanguageModelV4CallOptions): LanguageModelV4CallOptions => {
    const { openai, ...others } = call.providerOptions ?? {}
    return { ...call, providerOptions: { ...others, openai: { ...openai, store: false } } }
  }
  return {
    specificationVersion,
    provider,
    modelId,
    supportedUrls,
    doGenerate: (call) => model.doGenerate(unkept(call)),
    doStream: (call) => model.doStream(unkept(call)),
  }
}

/** A model of a server that speaks OpenAI's chat completions. */
export async function loadCompatible(
  connection: Connection,
  name: string,
  model: string,
): Promise<LanguageModelV4> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  // Without includeUsage such servers report no tokens at the end of a stream.
  return createOpenAICompatible({ ...connection, name, includeUsage: true }).languageModel(model)
}

/** The keys of a provider, which its variable holds with commas between them. */
export function keysOf(
  provider: Pick<HostedProvider, 'keyVariable'>,
  environment: ModelsEnvironment,
): string[] {
  const configured = environment[provider.keyVariable]
  if (typeof configured !== 'string') return []
  return configured
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '')
}

/** How a hosted provider is reached with one of its keys, by its place from 0; undefined without it. */
export function connectionTo(
  provider: Pick<HostedProvider, 'keyVariable' | 'addressVariable' | 'address'>,
  environment: ModelsEnvironment,
  fetch: typeof globalThis.fetch,
  keyIndex = 0,
): Connection | undefined {
  const apiKey = keysOf(provider, environment)[keyIndex]
  if (apiKey === undefined) return undefined
  const configured = environment[provider.addressVariable]
  return { apiKey, baseURL: addressOf(configured, provider.address), fetch }
}

/**
 * The configured address, or the provider's own. One without a path gets the path of the provider's own: its SDKs
 * differ in whether the version belongs to the address.
 */
export function addressOf(configured: unknown, own: string): string {
  if (typeof configured !== 'string') return own
  const url = new URL(configured)
  if (url.pathname === '/') url.pathname = new URL(own).pathname
  return url.href.replace(/\/+$/, '')
}

/**
 * OpenAI's current models call functions only through the Responses API, so that is spoken at OpenAI's own address.
 * Proxies, compatible servers and mocks all speak chat completions, and few of them the other.
 */
function speaksResponses(address: string, own: string, environment: ModelsEnvironment): boolean {
  if (environment.OPENAI_API !== undefined) return environment.OPENAI_API === 'responses'
  return address === own
}
