import type { ProviderError } from '../../platform/models/provider-error.ts'

/** What is remembered of a provider's calls, since the start of this server. */
export interface CallStatistics {
  latency(milliseconds: number): void
  failed(error: ProviderError, at: number): void
  percentiles(): { p50: number; p95: number; p99: number; samples: number } | null
  lastError(): { kind: string; message: string; model: string; at: string } | null
}

/** Latencies that are kept: enough for a p99 that means something, little enough to sort at a question. */
const samplesKept = 256

export function createCallStatistics(): CallStatistics {
  const latencies: number[] = []
  let next = 0
  let last: ReturnType<CallStatistics['lastError']> = null
  return {
    latency(milliseconds) {
      latencies[next] = Math.round(milliseconds)
      next = (next + 1) % samplesKept
    },
    failed(error, at) {
      const { kind, message, model } = error
      last = { kind, message, model, at: new Date(at).toISOString() }
    },
    percentiles() {
      if (latencies.length === 0) return null
      const sorted = latencies.toSorted((left, right) => left - right)
      const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0
      return { p50: at(0.5), p95: at(0.95), p99: at(0.99), samples: sorted.length }
    },
    lastError: () => last,
  }
}
