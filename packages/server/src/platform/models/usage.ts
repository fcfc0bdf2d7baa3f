import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Usage } from '@atelier/contract'

/** Characters of one token: the specification's convention for clients (section 4.3). */
export const charactersPerToken = 4

/** Estimated tokens of a text: the ceiling of its UTF-16 length over 4. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / charactersPerToken)
}

/** Tokens of the prompt, whichever way a cache served them. */
export function promptTokens(usage: Usage): number {
  return usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens
}

/** Tokens of the prompt and of the answer. */
export function totalTokens(usage: Usage): number {
  return promptTokens(usage) + usage.outputTokens + usage.reasoningTokens
}

export const noUsage: Usage = Object.freeze({
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  estimated: false,
})

/**
 * A provider's usage in disjoint buckets. What it does not tell is counted from the texts, and the result says so.
 * Providers that report cached tokens inside their input total cannot make a token count twice.
 */
export function usageFrom(
  reported: LanguageModelV4Usage | undefined,
  texts: { prompt: string; answer: string; reasoning?: string },
): Usage {
  const reasoning = texts.reasoning ?? ''
  const input = told(bucketsOfInput(reported?.inputTokens), texts.prompt)
  const output = told(bucketsOfOutput(reported?.outputTokens), texts.answer + reasoning)
  return {
    ...(input ?? { inputTokens: estimateTokens(texts.prompt), cachedInputTokens: 0, cacheWriteTokens: 0 }),
    ...(output ?? { outputTokens: estimateTokens(texts.answer), reasoningTokens: estimateTokens(reasoning) }),
    estimated: input === undefined || output === undefined || reported?.raw?.estimated === true,
  }
}

/** Bucket by bucket: the usage of several attempts or turns. */
export function sumOfUsages(usages: readonly Usage[]): Usage {
  return usages.reduce<Usage>(
    (sum, usage) => ({
      inputTokens: sum.inputTokens + usage.inputTokens,
      cachedInputTokens: sum.cachedInputTokens + usage.cachedInputTokens,
      cacheWriteTokens: sum.cacheWriteTokens + usage.cacheWriteTokens,
      outputTokens: sum.outputTokens + usage.outputTokens,
      reasoningTokens: sum.reasoningTokens + usage.reasoningTokens,
      estimated: sum.estimated || usage.estimated,
    }),
    noUsage,
  )
}

function bucketsOfInput(input: LanguageModelV4Usage['inputTokens'] | undefined) {
  const total = count(input?.total)
  const fresh = count(input?.noCache)
  if (total === undefined && fresh === undefined) return undefined
  const cachedInputTokens = count(input?.cacheRead) ?? 0
  const cacheWriteTokens = count(input?.cacheWrite) ?? 0
  const inputTokens = fresh ?? Math.max(0, (total ?? 0) - cachedInputTokens - cacheWriteTokens)
  return { inputTokens, cachedInputTokens, cacheWriteTokens }
}

function bucketsOfOutput(output: LanguageModelV4Usage['outputTokens'] | undefined) {
  const total = count(output?.total)
  const text = count(output?.text)
  if (total === undefined && text === undefined) return undefined
  const reasoningTokens = count(output?.reasoning) ?? 0
  const outputTokens = text ?? Math.max(0, (total ?? 0) - reasoningTokens)
  return { outputTokens, reasoningTokens }
}

/** Servers that do not count report 0 for everything; a text that is there has tokens. */
function told<Buckets extends Record<string, number>>(
  buckets: Buckets | undefined,
  text: string,
): Buckets | undefined {
  const nothing = buckets !== undefined && Object.values(buckets).every((tokens) => tokens === 0)
  return nothing && text !== '' ? undefined : buckets
}

/** A token count as reported, or undefined when it is none: servers have sent strings, NaN and -1. */
function count(value: number | undefined): number | undefined {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
