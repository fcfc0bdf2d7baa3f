import type { AnswerRagContext, Attempt, Citation, FinishReason, ToolUse, Usage } from '@atelier/contract'
import { sumDecimals } from '../lib/decimal.ts'

/** How an answer stands. What came before an end of any kind is kept in the turn's `text`. */
export type Outcome =
  | { state: 'streaming'; stopping: boolean }
  | {
      state: 'done'
      finishReason: FinishReason
      usage: Usage | null
      cost: string | null
      citations: readonly Citation[]
      ragContext: AnswerRagContext | null
      attempts: readonly Attempt[]
    }
  | {
      state: 'failed'
      /** it had begun, or was about to: the provider, the server or the connection broke off */
      interrupted: boolean
      error: Error
      attempts: readonly Attempt[]
    }
  /** stopped only here, because the server could not be reached */
  | { state: 'stopped' }
  /** a question that nobody answered */
  | { state: 'missing' }

/** A question and its answer. */
export interface Turn {
  id: string
  /** null for an answer whose question is not there, or not read yet */
  question: string | null
  /** paths that went with the question; known only to the page that asked */
  files: readonly string[]
  askedModel: string | null
  askedAt: string
  text: string
  tools: readonly ToolUse[]
  /** which model really answered */
  answeredBy: { model: string; provider: string } | null
  runId: string | null
  outcome: Outcome
}

/** The answer that is arriving; a question that was refused meanwhile may stand after it. */
export function arrivingIn(turns: readonly Turn[]): Turn | undefined {
  return turns.findLast(({ outcome }) => outcome.state === 'streaming')
}

export interface ChatCost {
  /** exact sum in USD of the answers whose price is known */
  known: string
  /** answers without a known price */
  unknown: number
}

export function costOf(turns: readonly Turn[]): ChatCost {
  const costs = turns.map(({ outcome }) =>
    outcome.state === 'done' && outcome.usage !== null ? outcome.cost : undefined,
  )
  return {
    known: sumDecimals(costs.filter((cost) => typeof cost === 'string')),
    unknown: costs.filter((cost) => cost === null).length,
  }
}

/** A call that has ended takes the place of its beginning. */
export function withTool(tools: readonly ToolUse[], tool: ToolUse): readonly ToolUse[] {
  const known = tools.some(({ id }) => id === tool.id)
  return known ? tools.map((each) => (each.id === tool.id ? tool : each)) : [...tools, tool]
}
