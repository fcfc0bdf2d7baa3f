/** Which models answer when one fails: its key, or `*` for all that are not named, to keys in order. */
export type ModelFallbacks = Readonly<Record<string, readonly string[]>>

/** `a=b,c; *=d`. Keys hold neither `=`, `,`, `;` nor white space. */
export const modelFallbacksPattern =
  /^\s*[^\s=,;]+\s*=\s*[^\s=,;]+(\s*,\s*[^\s=,;]+)*\s*(;\s*([^\s=,;]+\s*=\s*[^\s=,;]+(\s*,\s*[^\s=,;]+)*\s*)?)*$/

/** Reads `MODEL_FALLBACKS`; the text fits `modelFallbacksPattern`. A model that is named twice keeps its last list. */
export function parseModelFallbacks(text: string | undefined): ModelFallbacks {
  const entries = (text ?? '')
    .split(';')
    .map((entry) => entry.split('=').map((part) => part.trim()))
    .filter(([model, list]) => model !== undefined && list !== undefined)
    .map(([model = '', list = '']) => [model, list.split(',').map((key) => key.trim())] as const)
  return Object.freeze(Object.fromEntries(entries))
}

/** The chain of one model, itself left out. */
export function fallbacksOf(fallbacks: ModelFallbacks, model: string): readonly string[] {
  const own = Object.hasOwn(fallbacks, model) ? fallbacks[model] : fallbacks['*']
  return (own ?? []).filter((key) => key !== model)
}
