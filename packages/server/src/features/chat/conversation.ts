import type { ChatMessage } from '@atelier/contract'
import { invalidField } from '../../base/app-error.ts'
import type { AnswerStep } from './answer-steps.ts'

export interface Turn {
  role: 'user' | 'assistant'
  text: string
  /** of an answer for which tools were called: what `text` came from */
  steps?: readonly AnswerStep[]
}

/** A message as a caller sends it or a conversation keeps it. */
export type SpokenMessage = ChatMessage & Pick<Turn, 'steps'>

/**
 * A conversation in the one form that every model family accepts: instructions apart, turns alternating, the user's
 * first and last, none empty. Switching the model between turns therefore loses nothing.
 */
export interface Conversation {
  /** what the caller sent as `system` messages, joined */
  instructions: string
  /** oldest first; begins with a user's turn */
  history: Turn[]
  /** the last user's turn: what is to be answered */
  question: string
}

/**
 * Brings messages into canonical form: neighbours of one role are joined, empty ones dropped, and an answer without
 * a question before it gets none. Throws VALIDATION_ERROR for `field` when the last message is not a question.
 */
export function toConversation(messages: readonly SpokenMessage[], field: string): Conversation {
  const spoken = messages.filter((message) => message.content.trim() !== '')
  const instructions = spoken.filter((message) => message.role === 'system').map((message) => message.content)
  const turns = joinNeighbours(spoken)
  const last = turns.pop()
  if (last === undefined) throw invalidField(field, 'must contain a message with text')
  if (last.role !== 'user') throw invalidField(field, 'must end with a message whose role is user')
  if (turns[0]?.role === 'assistant') turns.unshift({ role: 'user', text: openingOfAnAnswer })
  return { instructions: instructions.join('\n\n'), history: turns, question: last.text }
}

/** Stands for the question of an answer that came without one; several providers refuse a leading answer. */
const openingOfAnAnswer = '(The conversation begins with your message.)'

function joinNeighbours(messages: readonly SpokenMessage[]): Turn[] {
  const turns: Turn[] = []
  for (const { role, content, steps } of messages) {
    if (role === 'system') continue
    const previous = turns.at(-1)
    if (previous?.role === role) turns.splice(-1, 1, { role, text: `${previous.text}\n\n${content}` })
    else turns.push({ role, text: content, ...(steps && { steps }) })
  }
  return turns
}
