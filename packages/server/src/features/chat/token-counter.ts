import { setImmediate } from 'node:timers/promises'

/** Counts tokens as OpenAI's current models do (o200k); other vendors' counts differ by up to a fifth. */
export interface TokenCounter {
  /** Takes 0.25 ms per 1,000 characters of the calling thread. */
  count(text: string): Promise<number>
}

/** Characters, 5 ms of counting: before more than that, what waits on the event loop is served. */
const lettingOthersIn = 20_000

/**
 * Longest run of letters, or of anything else without a break, that is counted in one piece. The encoder's time grows
 * with the square of such a run: 200,000 times one letter took 19 s. Cutting costs at most one token a piece.
 */
const longestRun = 256

const longRuns = new RegExp(`\\S{${longestRun},}|\\s{${longestRun},}`, 'gu')

/** The encoder's tables take 80 MB and 140 ms, so they are loaded for the first conversation that needs them. */
export function createTokenCounter(): TokenCounter {
  let countPiece: Promise<(text: string) => number> | undefined
  return {
    async count(text) {
      countPiece ??= loadEncoder()
      if (text.length > lettingOthersIn) await setImmediate()
      return countInPieces(text, await countPiece)
    },
  }
}

/** An upper bound that needs no encoder: every token is at least one byte of UTF-8. */
export function mostTokens(text: string): number {
  return Buffer.byteLength(text)
}

async function loadEncoder(): Promise<(text: string) => number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  // A text that spells a control token such as <|endoftext|> is text.
  const asText = { disallowedSpecial: new Set<string>() }
  return (text) => countTokens(text, asText)
}

function countInPieces(text: string, countPiece: (text: string) => number): number {
  let total = 0
  let end = 0
  for (const run of text.matchAll(longRuns)) {
    if (run.index > end) total += countPiece(text.slice(end, run.index))
    total += countRun(run[0], countPiece)
    end = run.index + run[0].length
  }
  return end < text.length ? total + countPiece(text.slice(end)) : total
}

function countRun(run: string, countPiece: (text: string) => number): number {
  let total = 0
  for (let start = 0; start < run.length; start += longestRun) {
    total += countPiece(run.slice(start, start + longestRun))
  }
  return total
}
