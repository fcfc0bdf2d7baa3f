import type { Attempt, ModelRecord, ToolUse } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import { sumOfCosts } from '../../platform/models/cost.ts'
import { noUsage, sumOfUsages } from '../../platform/models/usage.ts'
import type {
  AnswerEvent,
  AnswerRequest,
  Gateway,
  ModelPrompt,
  StreamedAnswer,
  ToolCall,
} from '../gateway/index.ts'
import { type AnswerStep, inputOf, isRecord, type StepResult } from './answer-steps.ts'
import type { ToolResult, WorkspaceTools } from './workspace-tools.ts'

/** A call of a tool, when it begins and when it has ended; or another model goes on. */
export type ToolEvent =
  | { type: 'tool-use'; use: ToolUse; model: ModelRecord }
  | { type: 'model-changed'; model: ModelRecord }

export interface ToolAnswer extends Omit<StreamedAnswer, 'events'> {
  events: AsyncIterable<AnswerEvent | ToolEvent>
  /** grows with each call of a model; empty without tools */
  steps: readonly AnswerStep[]
}

/** Times that the model is asked in one answer; the last time it has no tools and must answer. */
const mostRounds = 8

/** Calls that the model may make in one round, one after the other. */
const mostCallsOfARound = 8

/** Characters of a result that are shown to people and kept; the model gets more. */
const shownCharacters = 2_000

interface ToolOptions {
  gateway: Gateway
  request: AnswerRequest
  tools: WorkspaceTools
  /** The prompt for a model, with what was called and found so far at its end. */
  promptAfter(steps: readonly AnswerStep[], model: ModelRecord): Promise<ModelPrompt>
  /** hears of every result, before the model does */
  onResult(result: ToolResult): void
}

/**
 * An answer for which the model may call tools, in a bounded loop: it is asked, what it calls is run, and it is asked
 * again with the results. Usage and cost are of all rounds together. The model may change between rounds where one
 * fails: what it has found stays, its reasoning does not.
 */
export async function streamWithTools(options: ToolOptions): Promise<ToolAnswer> {
  const steps: AnswerStep[] = []
  const attempts: Attempt[] = []
  const first = await ask({ ...options, steps, attempts, model: null })
  return { model: first.model, attempts, steps, events: loop({ ...options, first, steps, attempts }) }
}

interface Progress extends ToolOptions {
  steps: AnswerStep[]
  attempts: Attempt[]
}

async function ask(options: Progress & { model: ModelRecord | null }): Promise<StreamedAnswer> {
  const { gateway, request, tools, promptAfter, steps, attempts, model } = options
  const last = steps.length === mostRounds - 1
  const choice = model === null ? request.choice : goingOnWith(model, request.choice)
  const [first, ...able] = choice.candidates.filter(({ capabilities }) => capabilities.tools)
  const [plain, ...plainer] = choice.candidates.filter(({ capabilities }) => !capabilities.tools)
  try {
    if (first === undefined) throw new AppError('SERVICE_UNAVAILABLE', 'No model here can call tools')
    const answer = await gateway.stream({
      ...request,
      choice: { ...choice, candidates: [first, ...able] },
      settings: {
        ...request.settings,
        tools: [...tools.definitions],
        toolChoice: { type: last ? 'none' : 'auto' },
      },
      prompt: (candidate) => promptAfter(steps, candidate),
    })
    attempts.push(...answer.attempts)
    return answer
  } catch (error) {
    // An answer without tools is better than none, as long as nothing has been called.
    if (plain === undefined || steps.length > 0 || request.signal.aborted) throw error
    attempts.push(...attemptsOf(error))
    const answer = await gateway.stream({
      ...request,
      choice: { ...choice, candidates: [plain, ...plainer], unavailable: [] },
    })
    attempts.push(...answer.attempts)
    return answer
  }
}

/** What was tried before an answer failed. */
export function attemptsOf(error: unknown): readonly Attempt[] {
  return error instanceof AppError && 'attempts' in error ? (error.attempts as readonly Attempt[]) : []
}

/** The model that has begun goes on if it can; the notice stands before the first round only. */
function goingOnWith(model: ModelRecord, choice: AnswerRequest['choice']): AnswerRequest['choice'] {
  const others = choice.candidates.filter(({ key }) => key !== model.key)
  return { ...choice, candidates: [model, ...others], notice: null, unavailable: [] }
}

type LastEvent = Extract<AnswerEvent, { type: 'finished' | 'failed' }>

async function* loop(
  options: Progress & { first: StreamedAnswer },
): AsyncGenerator<AnswerEvent | ToolEvent, void, void> {
  const { request, steps, attempts } = options
  const ends: LastEvent[] = []
  let answer = options.first
  try {
    for (;;) {
      const end = yield* untilEnd(answer.events)
      ends.push(end)
      const calls = end.type === 'finished' ? callsOf(end) : []
      if (end.type === 'finished') steps.push({ producer: answer.model.key, parts: end.parts, results: [] })
      if (calls.length === 0 || steps.length === mostRounds) return yield total(end, ends)
      const results = yield* runAll(calls, answer.model, options)
      steps.splice(-1, 1, { ...(steps.at(-1) as AnswerStep), results })
      const next = await ask({ ...options, model: answer.model })
      if (next.model.key !== answer.model.key) yield { type: 'model-changed', model: next.model }
      answer = next
    }
  } catch (error) {
    // What the rounds before have cost is told, however the answer ends.
    if (request.signal.aborted && !(request.signal.reason instanceof AppError)) {
      return yield total({ type: 'finished', finishReason: 'aborted', parts: [], ...nothingSpent }, ends)
    }
    const failure = request.signal.aborted ? request.signal.reason : error
    if (!(failure instanceof AppError)) throw error
    attempts.push(...attemptsOf(failure))
    const finishReason = request.signal.aborted ? 'interrupted' : 'error'
    yield total({ type: 'failed', finishReason, error: failure, ...nothingSpent }, ends)
  }
}

const nothingSpent = { usage: noUsage, cost: '0' }

/** Passes an answer on up to its end, which is returned. Calls are shown when they are run. */
async function* untilEnd(events: AsyncIterable<AnswerEvent>): AsyncGenerator<AnswerEvent, LastEvent, void> {
  for await (const event of events) {
    if (event.type === 'finished' || event.type === 'failed') return event
    if (event.type !== 'tool-call') yield event
  }
  throw new Error('an answer had no end')
}

function callsOf({ finishReason, parts }: Extract<LastEvent, { type: 'finished' }>): ToolCall[] {
  if (finishReason !== 'tool-calls') return []
  return parts.flatMap((part) => (part.type === 'tool-call' ? [part.call] : []))
}

async function* runAll(
  calls: readonly ToolCall[],
  model: ModelRecord,
  { tools, request, onResult, steps }: Progress,
): AsyncGenerator<ToolEvent, StepResult[], void> {
  const results: StepResult[] = []
  const earlier = steps.flatMap((step) => step.results.map(({ callId }) => callId))
  for (const [index, call] of calls.entries()) {
    const { id, name } = call
    const input = inputOf(call)
    // Some servers count their calls anew in every answer.
    const again = earlier.filter((callId) => callId === id).length
    const shownId = again === 0 ? id : `${id}-${again + 1}`
    const use = { id: shownId, name, input: isRecord(input) ? input : {} }
    yield { type: 'tool-use', model, use: { ...use, ...running } }
    const started = performance.now()
    const result = index < mostCallsOfARound ? await tools.run({ name, input }, request.signal) : tooMany
    onResult(result)
    yield { type: 'tool-use', model, use: { ...use, ...shown(result, performance.now() - started) } }
    results.push({ callId: id, ok: result.ok, text: result.text })
  }
  return results
}

const running = { state: 'running' as const, summary: null, result: null, ms: null }

function shown({ ok, summary, text }: ToolResult, milliseconds: number) {
  const state = ok ? ('done' as const) : ('failed' as const)
  const result = text.slice(0, shownCharacters).toWellFormed()
  return { state, summary, result, ms: Math.round(milliseconds) }
}

const tooMany: ToolResult = {
  ok: false,
  text: `At most ${mostCallsOfARound} calls are made at a time; make this one again if it is still needed.`,
  summary: 'too many calls at a time',
  passages: [],
}

function total<End extends LastEvent>(last: End, ends: readonly LastEvent[]): End {
  const all = ends.includes(last) ? ends : [...ends, last]
  return {
    ...last,
    usage: sumOfUsages(all.map((end) => end.usage)),
    cost: sumOfCosts(all.map((end) => end.cost)),
  }
}
