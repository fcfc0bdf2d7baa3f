import type { RelevanceScore } from '@atelier/contract'
import { estimateTokens } from '../../platform/models/usage.ts'
import type { RankedPassage } from './search.ts'

/** Lines of a file that may answer a question. */
export interface Passage {
  path: string
  /** one-based, both included */
  startLine: number
  endLine: number
  content: string
  /** SHA-256 (hex) of the whole file */
  contentSha256: string
  language: string | null
  similarity: number | null
  score: number
}

export interface QuestionContext {
  /** best first */
  passages: Passage[]
  /** the passages as one text, each under its place */
  text: string
  /** null: nothing relevant was found */
  relevanceScore: RelevanceScore | null
}

/** Passages that may be too long for what is left of the budget before the rest is left out. */
const maxMisses = 4

/** Takes passages from the best on while they fit; neighbours in a file become one passage. */
export function fitPassages(ranked: readonly RankedPassage[], budgetTokens: number): Passage[] {
  let passages: Passage[] = []
  let misses = 0
  for (const candidate of ranked) {
    const next = withPassage(passages, toPassage(candidate))
    if (estimateTokens(contextText(next)) <= budgetTokens) {
      passages = next
    } else {
      misses += 1
      if (misses > maxMisses) break
    }
  }
  return passages
}

/** As a model or a person reads it: the place, then the lines. */
export function contextText(passages: readonly Omit<Passage, 'contentSha256'>[]): string {
  return passages.map(blockOf).join('\n\n')
}

function blockOf({ path, startLine, endLine, language, content }: Omit<Passage, 'contentSha256'>): string {
  // A fence longer than any in the content.
  const longest = Math.max(2, ...[...content.matchAll(/`{3,}/g)].map(([fence]) => fence.length))
  const fence = '`'.repeat(longest + 1)
  return `${path}:${startLine}-${endLine}\n${fence}${language ?? ''}\n${content.replace(/\n$/, '')}\n${fence}`
}

function toPassage(ranked: RankedPassage): Passage {
  const { path, startLine, endLine, content, contentSha256, language, similarity, score } = ranked
  return { path, startLine, endLine, content, contentSha256, language, similarity, score }
}

/** A passage right before or after one of the same file is joined to it, at the better place. */
function withPassage(passages: readonly Passage[], added: Passage): Passage[] {
  const at = passages.findIndex(
    (present) =>
      present.path === added.path &&
      present.contentSha256 === added.contentSha256 &&
      (present.endLine + 1 === added.startLine || added.endLine + 1 === present.startLine),
  )
  const neighbour = passages[at]
  if (neighbour === undefined) return [...passages, added]
  const [first, second] = neighbour.startLine < added.startLine ? [neighbour, added] : [added, neighbour]
  const joined = {
    ...neighbour,
    startLine: first.startLine,
    endLine: second.endLine,
    content: first.content + second.content,
    score: Math.max(neighbour.score, added.score),
  }
  // What was joined may now touch a third one.
  return withPassage(passages.toSpliced(at, 1), joined).toSorted((left, right) => right.score - left.score)
}
