/** First and longest span of the wait before another call of the same model, in milliseconds. */
const firstSpan = 250
const longestSpan = 8_000

/**
 * Milliseconds to wait before repetition number `retry`, from 1. Full jitter: uniform between 0 and a span that doubles,
 * so that clients that failed together do not come back together.
 */
export function retryDelay(retry: number, random: () => number): number {
  return random() * Math.min(longestSpan, firstSpan * 2 ** (retry - 1))
}
