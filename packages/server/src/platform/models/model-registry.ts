import { type ModelPricing, ModelStatus, TaskName, TokenRates } from '@atelier/contract'
import { z } from 'zod'
import document from './registry.json' with { type: 'json' }

const Price = TokenRates.extend({
  /** first day of the price, UTC */
  from: z.iso.date(),
  longContext: z
    .strictObject({ above: z.number().int().positive(), rates: TokenRates.nullable() })
    .optional(),
})

const Capabilities = z.strictObject({
  streaming: z.boolean(),
  tools: z.boolean(),
  vision: z.boolean(),
  reasoning: z.boolean(),
  json: z.boolean(),
})

const RegistryEntry = z.strictObject({
  /** what requests say */
  key: z.string().min(1),
  /** who serves it; an id of `providers.ts` */
  provider: z.string().min(1),
  /** its name there */
  model: z.string().min(1),
  family: z.string().min(1),
  name: z.string().min(1),
  contextWindow: z.number().int().positive().nullable(),
  maxOutputTokens: z.number().int().positive().nullable(),
  /** oldest first; empty: the price is not known */
  prices: z.array(Price),
  capabilities: Capabilities,
  status: ModelStatus,
  tasks: z.array(TaskName),
  sources: z.array(z.string()).min(1),
  note: z.string().optional(),
})
export type RegistryEntry = z.infer<typeof RegistryEntry>

const RegistryDocument = z.strictObject({
  schemaVersion: z.literal(1),
  updated: z.iso.date(),
  sources: z.record(z.string(), z.strictObject({ what: z.string(), version: z.string() })),
  /** in order: section 4.4 recommends from the first and the second; `provider` serves most of the family's models */
  families: z.array(z.strictObject({ id: z.string(), company: z.string(), provider: z.string() })).min(5),
  recommended: z.record(TaskName, z.string()),
  models: z.array(RegistryEntry).min(12),
})

export interface ModelRegistry {
  readonly updated: string
  readonly families: readonly { id: string; company: string; provider: string }[]
  readonly recommended: Readonly<Record<TaskName, string>>
  readonly models: readonly RegistryEntry[]
  find(key: string): RegistryEntry | undefined
}

/** The hosted models, from `registry.json`. Throws when that file contradicts itself: a fault of this release. */
export function loadModelRegistry(source: unknown = document): ModelRegistry {
  const registry = RegistryDocument.parse(source)
  const byKey = new Map(registry.models.map((model) => [model.key, model]))
  const faults = contradictions(registry, byKey)
  if (faults.length > 0) throw new Error(`registry.json contradicts itself: ${faults.join('; ')}`)
  return {
    updated: registry.updated,
    families: registry.families,
    recommended: registry.recommended,
    models: registry.models,
    find: (key) => byKey.get(key),
  }
}

/** The price in force at a time (milliseconds since the epoch); null when it is not known. */
export function priceAt(entry: Pick<RegistryEntry, 'prices'>, time: number): ModelPricing | null {
  const today = new Date(time).toISOString().slice(0, 10)
  const inForce = entry.prices.findLast((price) => price.from <= today) ?? entry.prices[0]
  if (inForce === undefined) return null
  const { from: _, ...pricing } = inForce
  return pricing
}

function contradictions(
  registry: z.infer<typeof RegistryDocument>,
  byKey: ReadonlyMap<string, RegistryEntry>,
): string[] {
  const families = new Set(registry.families.map((family) => family.id))
  const faults: string[] = []
  if (byKey.size !== registry.models.length) faults.push('a key occurs twice')
  for (const [task, key] of Object.entries(registry.recommended)) {
    if (!byKey.has(key)) faults.push(`recommended.${task} names the unknown model ${key}`)
  }
  for (const model of registry.models) {
    if (!families.has(model.family)) faults.push(`${model.key} has the unknown family ${model.family}`)
    const unnamed = model.sources.find((source) => registry.sources[source] === undefined)
    if (unnamed !== undefined) faults.push(`${model.key} names the unknown source ${unnamed}`)
    const days = model.prices.map((price) => price.from)
    if (days.join() !== days.toSorted().join()) faults.push(`${model.key} has prices out of order`)
  }
  return faults
}
