/** What a model may take in a minute; undefined: as much as is asked of it. */
export interface ModelLimit {
  requests?: number
  tokens?: number
}

/** Limits by a model's key, or by `*` for each model that is not named. */
export type ModelLimits = Readonly<Record<string, ModelLimit>>

const amount = String.raw`\s*[1-9]\d{0,14}\s+(requests|tokens)\s*`
const entry = String.raw`\s*[^\s=,;]+\s*=${amount}(,${amount})?`

/** `a=60 requests, 100000 tokens; *=600 requests`. Keys hold neither `=`, `,`, `;` nor white space. */
export const modelLimitsPattern = new RegExp(`^${entry}(;(${entry})?)*$`)

/** Reads `MODEL_LIMITS`; the text fits `modelLimitsPattern`. A model that is named twice keeps its last limits. */
export function parseModelLimits(text: string | undefined): ModelLimits {
  const limits: Record<string, ModelLimit> = {}
  for (const [, model = '', amounts = ''] of (text ?? '').matchAll(/([^\s=,;]+)\s*=([^;]+)/g)) {
    const named = [...amounts.matchAll(/(\d+)\s+(requests|tokens)/g)]
    limits[model] = Object.fromEntries(named.map(([, count, unit]) => [unit, Number(count)]))
  }
  return Object.freeze(limits)
}

export function limitOf(limits: ModelLimits, model: string): ModelLimit | undefined {
  return Object.hasOwn(limits, model) ? limits[model] : limits['*']
}
