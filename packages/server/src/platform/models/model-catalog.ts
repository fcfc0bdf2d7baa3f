import {
  type AIProvider,
  type ModelCatalog,
  type ModelPricing,
  type ModelRecord,
  type PricingTier,
  type TaskName,
  taskNames,
} from '@atelier/contract'
import { localModelKey } from './local/local-model.ts'
import type { DiscoveredServer } from './local-discovery.ts'
import { type ModelRegistry, priceAt, type RegistryEntry } from './model-registry.ts'
import { hostedProviders } from './providers.ts'

/** Runs on hardware of one's own. */
const free: ModelPricing = Object.freeze({ input: '0', output: '0' })

const localModel: ModelRecord = {
  key: localModelKey,
  id: 'atelier/local',
  name: 'Local (no key, quotes code)',
  provider: 'atelier',
  family: 'atelier',
  contextWindow: 1_000_000,
  maxOutputTokens: 8_000,
  pricing: free,
  capabilities: { streaming: true, tools: false, vision: false, reasoning: false, json: false },
  status: 'active',
  tasks: [],
  available: true,
}

/**
 * Payload of `GET /api/ai/models`: hosted models in the registry's order, what was found beside this server, and `local`.
 * `configured` has the ids of the hosted providers with a key; prices are those in force at `now`.
 */
export function buildCatalog(options: {
  registry: ModelRegistry
  servers: readonly DiscoveredServer[]
  configured: ReadonlySet<string>
  now: number
}): ModelCatalog {
  const { registry, servers, configured, now } = options
  const hosted = registry.models.map((entry) => hostedRecord(entry, configured.has(entry.provider), now))
  const discovered = servers.flatMap(discoveredRecords)
  const models = [...hosted, ...discovered, localModel]
  return {
    models,
    providers: [
      ...hostedProviders.map((provider) =>
        describeProvider(provider, modelsOf(provider.id, models), configured.has(provider.id)),
      ),
      ...servers.map((server) =>
        describeProvider(
          {
            id: server.id,
            name: server.name,
            company: companies[server.id] ?? server.name,
            embeddings: true,
          },
          modelsOf(server.id, models),
          true,
        ),
      ),
      describeProvider(
        { id: 'atelier', name: 'Atelier', company: 'Atelier', embeddings: true },
        [localModel],
        true,
      ),
    ],
    recommended: registry.recommended,
    recommendedNow: recommendNow(registry.recommended, models),
    updated: registry.updated,
  }
}

const companies: Readonly<Record<string, string>> = {
  ollama: 'Ollama',
  lmstudio: 'Element Labs',
  llamacpp: 'ggml.org',
}

function hostedRecord(entry: RegistryEntry, available: boolean, now: number): ModelRecord {
  const { key, name, provider, family, contextWindow, maxOutputTokens, capabilities, status, tasks } = entry
  return {
    key,
    id: `${provider}/${entry.model}`,
    name,
    provider,
    family,
    contextWindow,
    maxOutputTokens,
    pricing: priceAt(entry, now),
    capabilities,
    status,
    tasks,
    available: available && status !== 'maintenance',
  }
}

function discoveredRecords(server: DiscoveredServer): ModelRecord[] {
  return server.models.map(({ key, provider, name, family, contextWindow, capabilities }) => ({
    key,
    id: key,
    name,
    provider,
    family,
    contextWindow,
    maxOutputTokens: null,
    pricing: server.free ? free : null,
    capabilities,
    status: 'active',
    tasks: [],
    available: true,
  }))
}

function modelsOf(provider: string, models: readonly ModelRecord[]): ModelRecord[] {
  return models.filter((model) => model.provider === provider)
}

function describeProvider(
  provider: { id: string; name: string; company: string; embeddings: boolean },
  models: ModelRecord[],
  available: boolean,
): AIProvider {
  const can = (capability: keyof ModelRecord['capabilities']) =>
    models.some((model) => model.capabilities[capability])
  return {
    id: provider.id,
    name: provider.name,
    company: provider.company,
    models,
    capabilities: {
      streaming: can('streaming'),
      tools: can('tools'),
      vision: can('vision'),
      reasoning: can('reasoning'),
      json: can('json'),
      embeddings: provider.embeddings,
    },
    pricing: pricingTier(models),
    status: statusOf(models),
    available,
  }
}

function statusOf(models: readonly ModelRecord[]): AIProvider['status'] {
  if (models.length === 0 || models.some((model) => model.status === 'active')) return 'active'
  return models.some((model) => model.status === 'maintenance') ? 'maintenance' : 'deprecated'
}

function pricingTier(models: readonly ModelRecord[]): PricingTier {
  const known = models.flatMap((model) => (model.pricing === null ? [] : [model.pricing]))
  const isFree = known.length > 0 && known.every((price) => price === free)
  return {
    tier: isFree ? 'free' : known.length > 0 ? 'paid' : 'unknown',
    currency: 'USD',
    unit: 'million tokens',
    input: rangeOf(known.map((price) => price.input)),
    output: rangeOf(known.map((price) => price.output)),
  }
}

/** Prices of the registry have few digits: as numbers they keep their order. */
function rangeOf(prices: readonly string[]): { lowest: string; highest: string } | null {
  const sorted = prices.toSorted((left, right) => Number(left) - Number(right))
  const [lowest] = sorted
  const highest = sorted.at(-1)
  return lowest === undefined || highest === undefined ? null : { lowest, highest }
}

/** The recommended model if it is there, else the first available one for that task, else any, else `local`. */
function recommendNow(
  recommended: Readonly<Record<TaskName, string>>,
  models: readonly ModelRecord[],
): Record<TaskName, string> {
  const usable = models.filter((model) => model.available && model.status === 'active')
  const choose = (task: TaskName) =>
    usable.find((model) => model.key === recommended[task]) ??
    usable.find((model) => model.tasks.includes(task)) ??
    usable.find((model) => model.key !== localModelKey) ??
    localModel
  return Object.fromEntries(taskNames.map((task) => [task, choose(task).key])) as Record<TaskName, string>
}
