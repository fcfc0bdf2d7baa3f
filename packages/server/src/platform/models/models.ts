import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelCatalog, ModelRecord } from '@atelier/contract'
import type { Clock } from '../../base/clock.ts'
import type { Embedder } from './embedder.ts'
import { createConfiguredEmbedder } from './embedding-models.ts'
import { createLanguageModels } from './language-models.ts'
import { createLocalDiscovery } from './local-discovery.ts'
import { buildCatalog } from './model-catalog.ts'
import { loadModelRegistry } from './model-registry.ts'
import type { ModelsEnvironment } from './models-environment.ts'
import { createPooledFetch } from './pooled-fetch.ts'
import { connectionTo, hostedProviders, keysOf } from './providers.ts'

export interface ModelsLogger {
  info(fields: object, message: string): void
}

/** Every model behind one seam. */
export interface Models extends AsyncDisposable {
  /** What there is now; looks for local servers in the background when that is 30 seconds ago. Never waits. */
  catalog(): ModelCatalog
  /** As `catalog`, but with local servers looked for first; takes at most half a second. */
  freshCatalog(): Promise<ModelCatalog>
  find(key: string): ModelRecord | undefined
  /** A guarded model (see `guardModel`). Throws ProviderError when there is no such model or no key for it. */
  languageModel(key: string, keyIndex?: number): LanguageModelV4
  /** how many keys a provider has here; 1 where it needs none */
  keysOf(provider: string): number
  /** The embedder of `EMBEDDING_MODEL`; undefined: the lexical one of retrieval is meant. */
  readonly embedder: Embedder | undefined
}

/** `fetch` replaces the pooled one, for tests. Starts to look for local servers at once and does not wait for them. */
export function createModels(options: {
  environment: ModelsEnvironment
  clock: Clock
  logger: ModelsLogger
  fetch?: typeof globalThis.fetch
}): Models {
  const { environment, clock, logger } = options
  const pool = createPooledFetch({
    connections: environment.MODEL_CONNECTIONS,
    longestAnswerMilliseconds: environment.MODEL_TOTAL_TIMEOUT_SECONDS * 1000,
  })
  const fetch = options.fetch ?? pool.fetch
  const registry = loadModelRegistry()
  const discovery = createLocalDiscovery({ environment, fetch, clock })
  const languageModels = createLanguageModels({ environment, registry, discovery, fetch })
  const configured = new Set(
    hostedProviders
      .filter((provider) => connectionTo(provider, environment, fetch) !== undefined)
      .map((provider) => provider.id),
  )
  const keyCounts = new Map(
    hostedProviders.map((provider) => [provider.id, keysOf(provider, environment).length]),
  )
  const current = currentCatalog(() => ({ registry, servers: discovery.servers(), configured, now: clock() }))
  const find = (key: string) => current().byKey.get(key)
  const lookAround = () =>
    discovery.refresh().then((servers) => {
      const found = servers.map((server) => `${server.name} (${server.models.length})`)
      if (found.length > 0) logger.info({ servers: found }, 'model servers found')
    })
  void lookAround()
  return {
    catalog() {
      void discovery.refresh()
      return current().catalog
    },
    async freshCatalog() {
      await discovery.refresh()
      return current().catalog
    },
    find,
    languageModel(key, keyIndex) {
      return languageModels.languageModel(find(key) ?? { key, provider: 'atelier', id: key }, keyIndex)
    },
    keysOf: (provider) => keyCounts.get(provider) ?? 1,
    embedder: createConfiguredEmbedder({ environment, fetch }),
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]()
    },
  }
}

/** Builds the catalog again only when servers came or went, or the day changed: every request looks a model up. */
function currentCatalog(inputs: () => Parameters<typeof buildCatalog>[0]) {
  let built:
    | { catalog: ModelCatalog; byKey: Map<string, ModelRecord>; servers: unknown; day: number }
    | undefined
  return () => {
    const input = inputs()
    const day = Math.floor(input.now / dayMilliseconds)
    if (built?.servers === input.servers && built.day === day) return built
    const catalog = buildCatalog(input)
    const byKey = new Map(catalog.models.map((model) => [model.key, model]))
    built = { catalog, byKey, servers: input.servers, day }
    return built
  }
}

const dayMilliseconds = 86_400_000
