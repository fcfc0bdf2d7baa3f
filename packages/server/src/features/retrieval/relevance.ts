import type { RelevanceScore } from '@atelier/contract'

/** What the best result of a search says about the whole of it. */
export interface RelevanceEvidence {
  embedder: string
  /** highest cosine similarity among the first results; null without vectors */
  similarity: number | null
  /** what similarity is usual between this question and this workspace */
  background: { mean: number; deviation: number; samples: number } | null
  /** share of the question's words, by rarity, that the best result has; 0 to 1 */
  coverage: number
}

interface Thresholds {
  high: number
  medium: number
}

/** Cosine similarities by embedder, from bench/results/relevance-calibration.json. */
const calibrated: Readonly<Record<string, Thresholds>> = {
  'local/hashed': { high: 0.42, medium: 0.25 },
}

/**
 * For an embedder that nobody calibrated: standard deviations above what is usual between this question and the chunks of
 * this workspace, which does not depend on the embedder's scale.
 */
const uncalibrated: Thresholds = { high: 5, medium: 3 }
/** Fewer chunks than this say nothing about what is usual. */
const minSamples = 50
/** Without any usable vector: shares of the question's words. */
const byCoverage: Thresholds = { high: 0.75, medium: 0.4 }

/** `null`: nothing relevant was found. */
export function relevanceOf(evidence: RelevanceEvidence): RelevanceScore | null {
  const { similarity, background } = evidence
  const thresholds = calibrated[evidence.embedder]
  if (similarity === null) return grade(evidence.coverage, byCoverage)
  if (thresholds !== undefined) return grade(similarity, thresholds)
  if (background === null || background.samples < minSamples || background.deviation === 0) {
    return grade(evidence.coverage, byCoverage)
  }
  return grade((similarity - background.mean) / background.deviation, uncalibrated)
}

function grade(value: number, thresholds: Thresholds): RelevanceScore | null {
  if (value >= thresholds.high) return 'high'
  return value >= thresholds.medium ? 'medium' : null
}
