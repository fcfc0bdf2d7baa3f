import type { ModelCatalog, ModelRecord, TaskName } from '@atelier/contract'
import { formatCompact, formatMoney } from '../lib/format.ts'

/** The key of our own model, which needs no provider. */
export const localModelKey = 'local'

/** The model to ask: the chosen one while it can be used, else the best available for code. */
export function modelToAsk(catalog: ModelCatalog | undefined, chosen: string | null): string {
  if (catalog === undefined) return chosen ?? localModelKey
  const usable = catalog.models.some(({ key, available }) => key === chosen && available)
  return usable && chosen !== null ? chosen : catalog.recommendedNow.coding
}

export function modelName(catalog: ModelCatalog | undefined, key: string): string {
  return catalog?.models.find((model) => model.key === key)?.name ?? key
}

/** `$3 in, $15 out` per million tokens. */
export function priceOf({ pricing }: ModelRecord): string {
  if (pricing === null) return 'unknown price'
  if (Number(pricing.input) === 0 && Number(pricing.output) === 0) return 'free'
  return `${formatMoney(pricing.input)} / ${formatMoney(pricing.output)}`
}

export function windowOf({ contextWindow }: ModelRecord): string {
  return contextWindow === null ? '–' : formatCompact(contextWindow)
}

export interface Recommendation {
  task: TaskName
  title: string
  /** the best model that can be used now */
  now: ModelRecord | undefined
  /** the best of all, where it is another one that needs a key */
  better: ModelRecord | undefined
}

const titles: Record<TaskName, string> = {
  coding: 'Best for code',
  reasoning: 'Best for hard questions',
  speed: 'Fastest',
  cost: 'Cheapest',
}

export function recommendationsOf(catalog: ModelCatalog): Recommendation[] {
  const find = (key: string) => catalog.models.find((model) => model.key === key)
  return (Object.keys(titles) as TaskName[]).map((task) => {
    const now = find(catalog.recommendedNow[task])
    const best = find(catalog.recommended[task])
    return { task, title: titles[task], now, better: best?.key === now?.key ? undefined : best }
  })
}
