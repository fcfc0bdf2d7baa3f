import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Attempt, ModelRecord, ToolUse } from '@atelier/contract'
import { sumOfCosts } from '../../platform/models/cost.ts'
import { sumOfUsages } from '../../platform/models/usage.ts'
import type {
  AnswerEvent,
  AnswerPart,
  AnswerRequest,
  Gateway,
  StreamedAnswer,
  ToolCall,
} from '../gateway/index.ts'
import type { ToolResult, WorkspaceTools } from './workspace-tools.ts'

/** A call of a tool, when it begins and when it has ended. */
export type ToolEvent = { type: 'tool-use'; use: ToolUse; model: ModelRecord }

export interface ToolAnswer extends Omit<StreamedAnswer, 'events'> {
  events: AsyncIterable<AnswerEvent | ToolEvent>
}

/** Times that the model is asked in one answer; the last time it has no tools and must answer. */
const mostRounds = 8

/** Calls that the model may make in one round, one after the other. */
const mostCallsOfARound = 8

/** Characters of a result that are shown to people and kept; the model gets more. */
const shownCharacters = 2_000

interface Round {
  producer: string
  parts: readonly AnswerPart[]
  results: readonly { call: ToolCall; result: ToolResult }[]
}

/**
 * An answer for which the model may call tools, in a bounded loop: it is asked, what it calls is run, and it is asked
 * again with the results. Usage and cost are of all rounds together. The model may change between rounds where one
 * fails: what it has found stays, its reasoning does not.
 */
export async function streamWithTools(options: {
  gateway: Gateway
  request: AnswerRequest
  tools: WorkspaceTools
  /** hears of every result, before the model does */
  onResult: (result: ToolResult) => void
}): Promise<ToolAnswer> {
  const { gateway, request, tools } = options
  const rounds: Round[] = []
  const attempts: Attempt[] = []
  const ask = async (last: boolean) => {
    const answer = await gateway.stream({
      ...request,
      // The notice stands before the first round only.
      choice: rounds.length === 0 ? request.choice : { ...request.choice, notice: null, unavailable: [] },
      settings: {
        ...request.settings,
        tools: [...tools.definitions],
        toolChoice: { type: last ? 'none' : 'auto' },
      },
      async prompt(model) {
        const { prompt, ...rest } = await request.prompt(model)
        return { ...rest, prompt: [...prompt, ...rounds.flatMap((round) => messagesOf(round, model))] }
      },
    })
    attempts.push(...answer.attempts)
    return answer
  }
  const first = await ask(false)
  return { model: first.model, attempts, events: loop({ ...options, first, ask, rounds }) }
}

type Finished = Extract<AnswerEvent, { type: 'finished' }>
type LastEvent = Extract<AnswerEvent, { type: 'finished' | 'failed' }>

async function* loop(options: {
  request: AnswerRequest
  tools: WorkspaceTools
  onResult: (result: ToolResult) => void
  first: StreamedAnswer
  ask: (last: boolean) => Promise<StreamedAnswer>
  rounds: Round[]
}): AsyncGenerator<AnswerEvent | ToolEvent, void, void> {
  const { request, tools, onResult, ask, rounds } = options
  const ends: LastEvent[] = []
  let answer = options.first
  for (;;) {
    const end = yield* untilEnd(answer.events)
    ends.push(end)
    const calls = end.type === 'finished' ? callsOf(end) : []
    if (calls.length === 0 || rounds.length === mostRounds - 1) return yield total(end, ends)
    const results: { call: ToolCall; result: ToolResult }[] = []
    for (const [index, call] of calls.entries()) {
      const result = index < mostCallsOfARound ? yield* runOne(call, { answer, tools, request }) : tooMany
      onResult(result)
      results.push({ call, result })
    }
    rounds.push({ producer: answer.model.key, parts: (end as Finished).parts, results })
    answer = await ask(rounds.length === mostRounds - 1)
  }
}

/** Passes an answer on up to its end, which is returned. Calls are shown when they are run. */
async function* untilEnd(events: AsyncIterable<AnswerEvent>): AsyncGenerator<AnswerEvent, LastEvent, void> {
  for await (const event of events) {
    if (event.type === 'finished' || event.type === 'failed') return event
    if (event.type !== 'tool-call') yield event
  }
  throw new Error('an answer had no end')
}

function callsOf({ finishReason, parts }: Finished): ToolCall[] {
  if (finishReason !== 'tool-calls') return []
  return parts.flatMap((part) => (part.type === 'tool-call' ? [part.call] : []))
}

async function* runOne(
  call: ToolCall,
  { answer, tools, request }: { answer: StreamedAnswer; tools: WorkspaceTools; request: AnswerRequest },
): AsyncGenerator<ToolEvent, ToolResult, void> {
  const { id, name } = call
  const { model } = answer
  const input = inputOf(call)
  const use = { id, name, input: isRecord(input) ? input : {} }
  yield {
    type: 'tool-use',
    model,
    use: { ...use, state: 'running', summary: null, result: null, ms: null },
  }
  const started = performance.now()
  const result = await tools.run({ name, input }, request.signal)
  const ended = {
    state: result.ok ? ('done' as const) : ('failed' as const),
    summary: result.summary,
    result: result.text.slice(0, shownCharacters),
    ms: Math.round(performance.now() - started),
  }
  yield { type: 'tool-use', model, use: { ...use, ...ended } }
  return result
}

const tooMany: ToolResult = {
  ok: false,
  text: `At most ${mostCallsOfARound} calls are made at a time; make this one again if it is still needed.`,
  summary: 'too many calls at a time',
  passages: [],
}

/** What is no JSON is told to the model by the schema of its tool. */
function inputOf({ input }: ToolCall): unknown {
  try {
    return input.trim() === '' ? {} : JSON.parse(input)
  } catch {
    return input
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * A round as the next model gets it. Reasoning and what a provider wants back go to the model that made them only:
 * another family would refuse the signature.
 */
function messagesOf({ producer, parts, results }: Round, model: ModelRecord): LanguageModelV4Prompt {
  const own = producer === model.key
  const content: Extract<LanguageModelV4Message, { role: 'assistant' }>['content'] = []
  for (const part of parts) {
    if (part.type === 'text') content.push({ type: 'text', text: part.text })
    else if (part.type === 'tool-call') content.push(toolCallPart(part.call, own))
    else if (own) content.push({ type: 'reasoning', text: part.text, ...metadataOf(part.metadata) })
  }
  const answers = results.map(({ call, result }) => ({
    type: 'tool-result' as const,
    toolCallId: call.id,
    toolName: call.name,
    output: { type: result.ok ? ('text' as const) : ('error-text' as const), value: result.text },
  }))
  return [
    { role: 'assistant', content },
    { role: 'tool', content: answers },
  ]
}

function toolCallPart(call: ToolCall, own: boolean) {
  const { id: toolCallId, name: toolName, metadata } = call
  const input = inputOf(call)
  return { type: 'tool-call' as const, toolCallId, toolName, input, ...(own ? metadataOf(metadata) : {}) }
}

function metadataOf(metadata: ToolCall['metadata']) {
  return metadata === undefined ? {} : { providerOptions: metadata }
}

function total<End extends LastEvent>(last: End, ends: readonly LastEvent[]): End {
  return {
    ...last,
    usage: sumOfUsages(ends.map((end) => end.usage)),
    cost: sumOfCosts(ends.map((end) => end.cost)),
  }
}
