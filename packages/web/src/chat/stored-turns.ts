import { ApiError } from '@atelier/client'
import type { AnswerFacts, StoredMessage } from '@atelier/contract'
import type { Outcome, Turn } from './turn.ts'

/** Stored messages as turns; an answer whose question is on an earlier page is a turn without one. */
export function turnsOf(messages: readonly StoredMessage[]): Turn[] {
  const turns: Turn[] = []
  for (const message of messages) {
    const last = turns.at(-1)
    if (message.role === 'user') turns.push(asked(message))
    else if (last?.outcome.state === 'missing') turns[turns.length - 1] = answered(last, message)
    else turns.push(answered({ ...asked(message), question: null }, message))
  }
  return turns
}

/** Turns with those before them; a question at the end of a page gets its answer from the next. */
export function joinTurns(earlier: readonly Turn[], later: readonly Turn[]): Turn[] {
  const last = earlier.at(-1)
  const [first, ...rest] = later
  if (last?.outcome.state !== 'missing' || first === undefined || first.question !== null) {
    return [...earlier, ...later]
  }
  const { id, question, askedAt } = last
  return [...earlier.slice(0, -1), { ...first, id, question, askedAt }, ...rest]
}

function asked({ id, content, createdAt }: StoredMessage): Turn {
  return {
    id,
    question: content,
    files: [],
    askedModel: null,
    askedAt: createdAt,
    text: '',
    tools: [],
    answeredBy: null,
    runId: null,
    outcome: { state: 'missing' },
  }
}

function answered(turn: Turn, { content, answer }: StoredMessage): Turn {
  if (answer === null) return { ...turn, text: content, outcome: outcomeOf(noFacts) }
  const { model, provider, attempts, tools, runId } = answer
  return {
    ...turn,
    text: content,
    tools,
    askedModel: attempts[0]?.model ?? model,
    answeredBy: model === null ? null : { model, provider: provider ?? '' },
    runId,
    outcome: outcomeOf(answer),
  }
}

/** Of an answer that a program has stored: nothing is known about it but its text. */
const noFacts: AnswerFacts = {
  runId: null,
  model: null,
  provider: null,
  finishReason: 'stop',
  usage: null,
  cost: null,
  citations: [],
  attempts: [],
  tools: [],
  ragContext: null,
}

function outcomeOf(answer: AnswerFacts): Outcome {
  const { finishReason, usage, cost, citations, ragContext, attempts } = answer
  if (finishReason === 'error' || finishReason === 'interrupted') {
    return {
      state: 'failed',
      interrupted: finishReason === 'interrupted',
      error: storedFailure(answer),
      attempts,
    }
  }
  return { state: 'done', finishReason, usage, cost, citations, ragContext, attempts }
}

/** What went wrong is stored as attempts, not as words. */
function storedFailure({ attempts }: AnswerFacts): ApiError {
  const last = attempts.at(-1)?.outcome
  if (last === 'budget') {
    return new ApiError({ code: 'RATE_LIMITED', status: 0, message: '', details: { kind: 'budget' } })
  }
  const code = last === undefined ? 'INTERNAL_ERROR' : last === 'timeout' ? 'TIMEOUT' : 'PROVIDER_ERROR'
  return new ApiError({ code, status: 0, message: '' })
}
