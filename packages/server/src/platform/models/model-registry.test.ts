import { taskNames } from '@atelier/contract'
import { describe, expect, it } from 'vitest'
import { loadModelRegistry, priceAt, type RegistryEntry } from './model-registry.ts'
import { hostedProviders } from './providers.ts'
import document from './registry.json' with { type: 'json' }

const registry = loadModelRegistry()
const day = (date: string) => Date.parse(`${date}T12:00:00Z`)

describe('the registry', () => {
  it('[MOD1] has 12 models or more of 5 families or more, each from a named source', () => {
    expect(registry.models.length).toBeGreaterThanOrEqual(12)
    expect(new Set(registry.models.map((model) => model.family)).size).toBeGreaterThanOrEqual(5)
    const providers = new Set(hostedProviders.map((provider) => provider.id))
    for (const model of registry.models) {
      expect(providers).toContain(model.provider)
      expect(model.sources.length).toBeGreaterThan(0)
    }
  })

  it('[MOD1] is refused when it contradicts itself', () => {
    const [first] = document.models
    const twice = { ...document, models: [...document.models, first] }
    expect(() => loadModelRegistry(twice)).toThrow('a key occurs twice')
    const nobody = { ...document, recommended: { ...document.recommended, speed: 'nobody' } }
    expect(() => loadModelRegistry(nobody)).toThrow('unknown model nobody')
    const unsourced = {
      ...document,
      models: [{ ...first, key: 'x', sources: ['hearsay'] }, ...document.models],
    }
    expect(() => loadModelRegistry(unsourced)).toThrow('unknown source hearsay')
  })

  it('[MOD2] gives the price of the day, and null where none is known', () => {
    const argon = registry.find('gemini-4-argon')
    expect(argon && priceAt(argon, day('2026-11-30'))?.input).toBe('2')
    expect(argon && priceAt(argon, day('2026-12-01'))?.input).toBe('4')
    const llama = registry.find('llama-3.3-70b')
    expect(llama && priceAt(llama, day('2026-11-30'))).toBeNull()
  })

  it('[MOD3] recommends from the first two families as section 4.4 says', () => {
    const [first, second] = registry.families
    const own = (family: typeof first) =>
      registry.models.filter((model) => model.family === family?.id && model.provider === family?.provider)
    const recommended = (task: (typeof taskNames)[number]) => registry.find(registry.recommended[task])
    const cheapest = (models: RegistryEntry[]) =>
      models.toSorted((a, b) => outputPrice(a) - outputPrice(b))[0]
    const dearest = (models: RegistryEntry[]) => models.toSorted((a, b) => outputPrice(b) - outputPrice(a))[0]
    expect(recommended('cost')).toBe(cheapest(own(first)))
    expect(recommended('speed')).toBe(cheapest(own(second)))
    expect(recommended('reasoning')).toBe(dearest(own(second)))
    expect(own(first)).toContain(recommended('coding'))
    expect(recommended('coding')?.tasks).toContain('coding')
    for (const task of taskNames) expect(recommended(task)?.status).toBe('active')
  })
})

function outputPrice(model: RegistryEntry): number {
  return Number(priceAt(model, day('2026-11-21'))?.output ?? Number.NaN)
}
