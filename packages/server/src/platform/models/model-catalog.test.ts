import { ModelCatalog, taskNames } from '@atelier/contract'
import { describe, expect, it } from 'vitest'
import type { DiscoveredServer } from './local-discovery.ts'
import { buildCatalog } from './model-catalog.ts'
import { loadModelRegistry } from './model-registry.ts'

const registry = loadModelRegistry()
const now = Date.parse('2026-11-21T00:00:00Z')
const ollama: DiscoveredServer = {
  id: 'ollama',
  name: 'Ollama',
  baseURL: 'http://127.0.0.1:11434/v1',
  apiKey: undefined,
  free: true,
  models: [
    {
      key: 'ollama/qwen3:8b',
      provider: 'ollama',
      model: 'qwen3:8b',
      name: 'qwen3:8b',
      family: 'qwen3',
      contextWindow: 40960,
      capabilities: { streaming: true, tools: true, vision: false, reasoning: true, json: false },
    },
  ],
}
const catalog = (configured: string[] = [], servers: DiscoveredServer[] = []) =>
  buildCatalog({ registry, servers, configured: new Set(configured), now })
const find = (from: ModelCatalog, key: string) => from.models.find((model) => model.key === key)

describe('the catalogue', () => {
  it('[MOD1, MOD5] fits the contract, with keys and servers and without', () => {
    expect(ModelCatalog.parse(catalog())).toEqual(catalog())
    const full = catalog(['openai', 'anthropic', 'groq'], [ollama])
    expect(ModelCatalog.parse(full)).toEqual(full)
    expect(find(full, 'gpt-oss-20b')).toMatchObject({ id: 'groq/openai/gpt-oss-20b', family: 'openai' })
  })

  it('[MOD5] shows as available what has a key or answers, and always `local`', () => {
    const available = (from: ModelCatalog) =>
      from.models.filter((model) => model.available).map((model) => model.key)
    expect(available(catalog())).toEqual(['local'])
    const some = available(catalog(['anthropic'], [ollama]))
    expect(some).toContain('claude-haiku-5-5')
    expect(some).toContain('ollama/qwen3:8b')
    expect(some).not.toContain('gpt-6-luna')
  })

  it('[MOD4] recommends the best, and what can be used now', () => {
    expect(catalog().recommendedNow).toEqual(Object.fromEntries(taskNames.map((task) => [task, 'local'])))
    const openai = catalog(['openai'])
    expect(openai.recommendedNow.coding).toBe(openai.recommended.coding)
    expect(find(openai, openai.recommendedNow.reasoning)).toMatchObject({
      provider: 'openai',
      available: true,
    })
    expect(catalog([], [ollama]).recommendedNow.speed).toBe('ollama/qwen3:8b')
    expect(openai.recommended).toEqual(catalog().recommended)
  })

  it('[MOD2, MOD11] prices: what runs here is free, what nobody tells is not', () => {
    expect(find(catalog([], [ollama]), 'ollama/qwen3:8b')?.pricing).toEqual({ input: '0', output: '0' })
    expect(find(catalog([], [{ ...ollama, free: false }]), 'ollama/qwen3:8b')?.pricing).toBeNull()
    expect(find(catalog(), 'llama-3.3-70b')).toMatchObject({ pricing: null, status: 'deprecated' })
  })

  it('describes providers by their models', () => {
    const { providers } = catalog(['openai'], [ollama])
    expect(providers.find((provider) => provider.id === 'openai')).toMatchObject({
      company: 'OpenAI',
      available: true,
      status: 'active',
      capabilities: { tools: true, embeddings: true },
      pricing: { tier: 'paid', input: { lowest: '0.1', highest: '8' } },
    })
    expect(providers.find((provider) => provider.id === 'ollama')?.pricing.tier).toBe('free')
  })
})
