/** How many acquisitions the percentiles look back: enough for a p99, 8 KB. */
const remembered = 1_024

/** Times until a connection was there, in milliseconds, in a ring. */
export interface AcquireStatistics {
  record(milliseconds: number): void
  percentiles(): { p50: number; p95: number; p99: number } | null
}

export function createAcquireStatistics(): AcquireStatistics {
  const ring = new Float64Array(remembered)
  let count = 0
  return {
    record(milliseconds) {
      ring[count % remembered] = milliseconds
      count += 1
    },
    percentiles() {
      if (count === 0) return null
      const sorted = ring.slice(0, Math.min(count, remembered)).sort()
      const at = (share: number) => round(sorted[Math.ceil(share * sorted.length) - 1] ?? 0)
      return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
    },
  }
}

/** To microseconds: what the clock can tell. */
function round(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000
}
