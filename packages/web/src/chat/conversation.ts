import {
  Citation,
  FinishReason,
  maxMessageLength,
  maxMessages,
  RelevanceScore,
  Usage,
} from '@atelier/contract'
import { z } from 'zod'
import { sumDecimals } from '../lib/decimal.ts'

/** How an answer stands. What came before an end of any kind is kept in the turn's `text`. */
export const Outcome = z.discriminatedUnion('state', [
  z.object({ state: z.literal('streaming') }),
  z.object({
    state: z.literal('done'),
    finishReason: FinishReason,
    usage: Usage,
    cost: z.string().nullable(),
    runId: z.string(),
    relevance: RelevanceScore.nullable(),
    citations: z.array(Citation),
  }),
  z.object({ state: z.literal('stopped') }),
  z.object({
    state: z.literal('failed'),
    code: z.string(),
    message: z.string(),
    requestId: z.string().nullable(),
    retryAfterSeconds: z.number().nullable(),
  }),
])
export type Outcome = z.infer<typeof Outcome>

export const Turn = z.object({
  id: z.string(),
  question: z.string(),
  files: z.array(z.string()),
  /** key of the model that was asked */
  askedModel: z.string(),
  askedAt: z.string(),
  text: z.string(),
  /** which model really answered, as the chunks say */
  answeredBy: z.object({ model: z.string(), provider: z.string() }).nullable(),
  /** the server's run that makes the answer: to take it up again, or to stop it */
  runId: z.string().nullable().default(null),
  outcome: Outcome,
})
export type Turn = z.infer<typeof Turn>

export const Conversation = z.object({
  /** chosen by the person; null follows the recommendation */
  model: z.string().nullable(),
  turns: z.array(Turn),
})
export type Conversation = z.infer<typeof Conversation>

export const emptyConversation: Conversation = { model: null, turns: [] }

/** Characters of earlier turns that go with a question: half of what the server takes in one body. */
const maxHistoryCharacters = 2_000_000

interface HistoryMessage {
  role: 'user' | 'assistant'
  content: string
}

/** Earlier turns as messages, oldest first; turns without an answer are left out, and the oldest give way to the limits. */
export function historyOf(turns: readonly Turn[]): HistoryMessage[] {
  const messages: HistoryMessage[] = []
  let characters = 0
  for (const turn of turns.toReversed()) {
    if (turn.text.trim() === '') continue
    const content = turn.text.slice(0, maxMessageLength)
    characters += turn.question.length + content.length
    if (characters > maxHistoryCharacters || messages.length + 2 > maxMessages) break
    messages.unshift({ role: 'user', content: turn.question }, { role: 'assistant', content })
  }
  return messages
}

export interface ConversationCost {
  /** exact sum in USD of the answers whose price is known */
  known: string
  /** answers without a known price */
  unknown: number
}

export function costOf(turns: readonly Turn[]): ConversationCost {
  const costs = turns.map((turn) => (turn.outcome.state === 'done' ? turn.outcome.cost : undefined))
  return {
    known: sumDecimals(costs.filter((cost) => typeof cost === 'string')),
    unknown: costs.filter((cost) => cost === null).length,
  }
}

/** An answer that was still arriving when the page was left can be followed on if its run is known; others have no more to come. */
export function settleInterrupted(conversation: Conversation): Conversation {
  const last = conversation.turns.at(-1)
  const turns = conversation.turns.map((turn): Turn => {
    if (turn.outcome.state !== 'streaming' || (turn === last && turn.runId !== null)) return turn
    const message = 'The page was left while this answer arrived'
    return {
      ...turn,
      outcome: { state: 'failed', code: 'INTERRUPTED', message, requestId: null, retryAfterSeconds: null },
    }
  })
  return { ...conversation, turns }
}
