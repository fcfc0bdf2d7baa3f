import { z } from 'zod'

/**
 * How one call of one model ended. `skipped`: its breaker is open or its minute full, so it was not called;
 * `unavailable`: its provider has no key here, or its server is gone; `budget`: what calls may cost does not suffice for it.
 */
export const AttemptOutcome = z.enum([
  'answered',
  'transient',
  'key',
  'context-length',
  'policy',
  'request',
  'timeout',
  'prompt-too-long',
  'skipped',
  'unavailable',
  'budget',
])
export type AttemptOutcome = z.infer<typeof AttemptOutcome>

export const Attempt = z.object({
  model: z.string(),
  outcome: AttemptOutcome,
  ms: z.number().int().nonnegative().describe('to the first content, or to the failure'),
  status: z.number().int().optional().describe('HTTP status with which the provider refused'),
})
export type Attempt = z.infer<typeof Attempt>
