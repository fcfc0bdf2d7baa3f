import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { AnswerPart, ToolCall } from '../gateway/index.ts'
import { quote } from './workspace-material.ts'

/** One call of a model within an answer, and what its tools gave. An answer without tools has none. */
export interface AnswerStep {
  /** key of the model that made it */
  producer: string
  parts: readonly AnswerPart[]
  /** one for each call among the parts; none in the step that ends an answer */
  results: readonly StepResult[]
}

export interface StepResult {
  callId: string
  ok: boolean
  text: string
}

/** Stands for a result that there is no room for any more. */
export const leftOut = '(There is no more room for this result; call the tool again if you need it.)'

/** Characters of results that are kept with a stored answer, the newest first. */
const mostStoredCharacters = 200_000

/**
 * A step as a model gets it. Reasoning and what a provider wants back go to the model that made them only: another
 * family would refuse the signature. Results stand between lines with the prompt's boundary.
 */
export function stepMessages(
  { producer, parts, results }: AnswerStep,
  { model, boundary }: { model: string; boundary: string },
): LanguageModelV4Prompt {
  const own = producer === model
  const content: Extract<LanguageModelV4Message, { role: 'assistant' }>['content'] = []
  const names = new Map<string, string>()
  for (const part of parts) {
    // Anthropic refuses a text of blanks.
    if (part.type === 'text' && part.text.trim() === '') continue
    if (part.type === 'text') content.push({ type: 'text', text: part.text })
    else if (part.type === 'tool-call') {
      // A call that was not answered any more has no place in any protocol.
      if (!results.some(({ callId }) => callId === part.call.id)) continue
      names.set(part.call.id, part.call.name)
      content.push(toolCallPart(part.call, own))
    } else if (own) content.push({ type: 'reasoning', text: part.text, ...metadataOf(part.metadata) })
  }
  const answers = results.map(({ callId, ok, text }) => ({
    type: 'tool-result' as const,
    toolCallId: callId,
    toolName: names.get(callId) ?? '',
    output: { type: ok ? ('text' as const) : ('error-text' as const), value: quote(boundary, text) },
  }))
  const said: LanguageModelV4Message[] = content.length === 0 ? [] : [{ role: 'assistant', content }]
  return answers.length === 0 ? said : [...said, { role: 'tool', content: answers }]
}

/** What the model called a tool with; what is no JSON is told to it by the schema of the tool. */
export function inputOf({ input }: Pick<ToolCall, 'input'>): unknown {
  try {
    return input.trim() === '' ? {} : JSON.parse(input)
  } catch {
    return input
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Texts of the results, newest first, replaced where `take` has no room. */
export async function fitResults(
  steps: readonly AnswerStep[],
  take: (text: string) => Promise<boolean>,
): Promise<AnswerStep[]> {
  const fitted: AnswerStep[] = []
  for (const step of steps.toReversed()) {
    const results: StepResult[] = []
    for (const result of step.results.toReversed()) {
      results.unshift((await take(result.text)) ? result : { ...result, text: leftOut })
    }
    fitted.unshift({ ...step, results })
  }
  return fitted
}

/**
 * Steps as a stored answer keeps them, with what was said after the last of them; null for an answer whose text is all
 * there is.
 */
export async function stepsToKeep(
  steps: readonly AnswerStep[],
  answer: string,
): Promise<AnswerStep[] | null> {
  if (steps.every(({ results }) => results.length === 0)) return null
  let left = mostStoredCharacters
  const kept = await fitResults(steps, async (text) => {
    left -= text.length
    return left >= 0
  })
  const said = steps
    .flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
    .join('')
  const rest = answer.startsWith(said) ? answer.slice(said.length) : ''
  if (rest === '') return kept
  return [...kept, { producer: '', parts: [{ type: 'text', text: rest }], results: [] }]
}

function toolCallPart(call: ToolCall, own: boolean) {
  const { id: toolCallId, name: toolName, metadata } = call
  const asked = inputOf(call)
  // Anthropic and Google take an object only.
  const input = isRecord(asked) ? asked : {}
  return { type: 'tool-call' as const, toolCallId, toolName, input, ...(own ? metadataOf(metadata) : {}) }
}

function metadataOf(metadata: ToolCall['metadata']) {
  return metadata === undefined ? {} : { providerOptions: metadata }
}
