import type { Attempt, ModelRecord } from '@atelier/contract'
import { AppError, invalidField, notFound } from '../../base/app-error.ts'
import { localModelKey } from '../../platform/models/local/local-model.ts'
import { fallbacksOf, type ModelFallbacks } from '../../platform/models/model-fallbacks.ts'
import type { ModelSource } from './model-source.ts'

/** What a caller asks for; `field` names the parameter in errors. */
export type ModelQuery =
  /** one model, or the recommended one for coding that is available now */
  | { kind: 'one'; model: string | undefined; field: string }
  /** the first that answers, in order; empty: as `one` without a model */
  | { kind: 'chain'; models: readonly { key: string; field: string }[] }
  /** of one family or provider: that model, or its best */
  | { kind: 'vendor'; vendor: string; model: string | undefined; field: string }

export interface ModelChoice {
  /** to be tried in order */
  candidates: readonly [ModelRecord, ...ModelRecord[]]
  /** what was asked for and cannot be used here: its provider has no key, or its server is gone */
  unavailable: readonly Attempt[]
  /** what a person must be told when none of what they asked for can be used here; Markdown */
  notice: string | null
}

/**
 * Which models may answer a request: what is asked for, then the configured fallbacks of the first. Where none of what
 * is asked for can be used here, at last `local`, with a notice: a known model never fails for want of a key. An unknown
 * model is a VALIDATION_ERROR for its field, an unknown vendor NOT_FOUND.
 */
export function chooseModels(models: ModelSource, query: ModelQuery, fallbacks: ModelFallbacks): ModelChoice {
  const asked = distinct(askedFor(models, query))
  const configured = asked[0] === undefined ? [] : fallbacksOf(fallbacks, asked[0].key)
  const chain = distinct([...asked, ...configured.flatMap((key) => models.find(key) ?? [])])
  const candidates = chain.filter((record) => record.available)
  const unavailable = asked
    .filter((record) => !record.available)
    .map(({ key }) => ({ model: key, outcome: 'unavailable' as const, ms: 0 }))
  const degraded = !asked.some((record) => record.available)
  const local = degraded ? models.find(localModelKey) : undefined
  const [first, ...others] = distinct(local === undefined ? candidates : [...candidates, local])
  if (first === undefined) throw new AppError('SERVICE_UNAVAILABLE', 'There is no model here')
  const notice = degraded ? noticeOf(asked[0], first) : null
  return { candidates: [first, ...others], unavailable, notice }
}

function askedFor(models: ModelSource, query: ModelQuery): ModelRecord[] {
  if (query.kind === 'vendor') return [ofVendor(models, query)]
  const named =
    query.kind === 'chain'
      ? query.models
      : query.model === undefined
        ? []
        : [{ key: query.model, field: query.field }]
  if (named.length > 0) return named.map(({ key, field }) => known(models, key, field))
  return [known(models, models.catalog().recommendedNow.coding, 'model')]
}

function ofVendor(models: ModelSource, query: ModelQuery & { kind: 'vendor' }): ModelRecord {
  const { vendor, model, field } = query
  const belongs = (record: ModelRecord) => record.family === vendor || record.provider === vendor
  const catalog = models.catalog()
  const own = catalog.models.filter(belongs)
  if (own.length === 0) throw notFound('Vendor')
  if (model !== undefined) {
    const record = known(models, model, field)
    if (!belongs(record)) throw invalidField(field, `is not a model of ${vendor}: ${model}`)
    return record
  }
  const active = own.filter((record) => record.status === 'active')
  const usable = active.filter((record) => record.available)
  const { coding } = catalog.recommended
  const best = usable.find((record) => record.key === coding) ?? usable[0] ?? active[0] ?? own[0]
  return best as ModelRecord
}

function known(models: ModelSource, key: string, field: string): ModelRecord {
  const record = models.find(key)
  if (record === undefined) {
    throw invalidField(field, `is not a known model: ${key}; GET /api/ai/models lists them`)
  }
  return record
}

function distinct(records: readonly ModelRecord[]): ModelRecord[] {
  return [...new Map(records.map((record) => [record.key, record])).values()]
}

function noticeOf(asked: ModelRecord | undefined, answering: ModelRecord): string | null {
  if (asked === undefined) return null
  return `> **${asked.name}** cannot be used here: its provider (${asked.provider}) has no key or does not answer. **${answering.name}** answers instead.\n\n`
}
