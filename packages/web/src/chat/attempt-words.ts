import type { Attempt, AttemptOutcome, ModelCatalog } from '@atelier/contract'
import { modelName } from './model-choice.ts'

const words: Record<AttemptOutcome, string> = {
  answered: 'answered',
  transient: 'failed',
  key: 'was refused for its key',
  'context-length': 'cannot take a conversation this long',
  policy: 'refuses this content',
  request: 'refused the request',
  timeout: 'did not answer in time',
  'prompt-too-long': 'cannot take a conversation this long',
  skipped: 'was left alone, because it has been failing',
  unavailable: 'has no key here, or its server is gone',
  budget: 'costs more than the budget allows',
}

/** `failed: 429`, `did not answer in time` … */
export function attemptWords({ outcome, status }: Attempt): string {
  return status === undefined ? words[outcome] : `${words[outcome]}: ${status}`
}

/** `after Claude failed: 429`, with the last failure of each other model; null where the one that was asked answered. */
export function fallbackWords(
  catalog: ModelCatalog | undefined,
  attempts: readonly Attempt[],
): string | null {
  const answering = attempts.findLast(({ outcome }) => outcome === 'answered')?.model
  const failures = new Map<string, Attempt>()
  for (const attempt of attempts) {
    if (attempt.outcome !== 'answered' && attempt.model !== answering) failures.set(attempt.model, attempt)
  }
  if (answering === undefined || failures.size === 0) return null
  const told = [...failures.values()].map(
    (attempt) => `${modelName(catalog, attempt.model)} ${attemptWords(attempt)}`,
  )
  return `after ${told.join(', and ')}`
}

/** Worth telling: more than one call that simply succeeded. */
export function hasFailures(attempts: readonly Attempt[]): boolean {
  return attempts.some(({ outcome }) => outcome !== 'answered')
}
