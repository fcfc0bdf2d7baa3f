import type { BreakerState, ProviderHealth } from '@atelier/contract'
import { formatDuration } from '../lib/format.ts'
import type { Tone } from '../ui/feedback.tsx'

export interface HealthWords {
  tone: Tone
  title: string
  /** what it means for whoever asks a model now */
  meaning: string
}

/** How a provider is doing, in words. */
export function healthWords({ configured, breaker, calls, failures }: ProviderHealth): HealthWords {
  if (!configured) {
    return { tone: 'neutral', title: 'not connected', meaning: 'Its models cannot be asked here.' }
  }
  if (breaker === 'open') {
    return {
      tone: 'bad',
      title: 'left alone',
      meaning: 'It has been failing. Other models answer in its place until it is tried again.',
    }
  }
  if (breaker === 'half-open') {
    return { tone: 'warn', title: 'being tried again', meaning: 'One call finds out whether it works again.' }
  }
  if (failures > 0 && failures === calls) {
    return { tone: 'bad', title: 'failing', meaning: `All of its last ${calls} calls failed.` }
  }
  if (failures > 0) {
    return {
      tone: 'warn',
      title: 'failing at times',
      meaning: `${failures} of its last ${calls} calls failed.`,
    }
  }
  return { tone: 'good', title: 'ready', meaning: 'Its models can be asked.' }
}

const breakers: Record<BreakerState, string> = {
  closed: 'asked as usual',
  open: 'left alone',
  'half-open': 'being tried again',
}

/** `left alone, tried again in 12 s` */
export function breakerWords({ breaker, retryInMs }: ProviderHealth['models'][number]): string {
  if (retryInMs === 0) return breakers[breaker]
  return `${breakers[breaker]}, tried again in ${formatDuration(Math.ceil(retryInMs / 1000) * 1000)}`
}
