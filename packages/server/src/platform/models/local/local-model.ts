import { setImmediate } from 'node:timers/promises'
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4Warning,
} from '@ai-sdk/provider'
import { estimateTokens } from '../usage.ts'
import { composeAnswer } from './compose.ts'
import { localRequestOf, promptText } from './passage.ts'

export const localModelKey = 'local'

/** Characters of one streamed part: a line or so, as a model would send it. */
const partLength = 60

/**
 * Atelier's own model: no key, no network, no weights. It answers from the passages under `providerOptions.atelier` with
 * quotations and their places, and says what it is. Usage is estimated; `maxOutputTokens` cuts the answer.
 */
export function createLocalModel(): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'local',
    modelId: localModelKey,
    supportedUrls: {},
    async doGenerate(call) {
      call.abortSignal?.throwIfAborted()
      const { text, finishReason, usage } = answer(call)
      return { content: [{ type: 'text', text }], finishReason, usage, warnings: warningsFor(call) }
    },
    async doStream(call) {
      call.abortSignal?.throwIfAborted()
      return { stream: ReadableStream.from(partsOf(call)) }
    },
  }
}

async function* partsOf(call: LanguageModelV4CallOptions): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: warningsFor(call) }
  const { text, finishReason, usage } = answer(call)
  yield { type: 'text-start', id: '0' }
  for (const delta of pieces(text)) {
    call.abortSignal?.throwIfAborted()
    yield { type: 'text-delta', id: '0', delta }
    await setImmediate()
  }
  call.abortSignal?.throwIfAborted()
  yield { type: 'text-end', id: '0' }
  yield { type: 'finish', finishReason, usage }
}

function answer(call: LanguageModelV4CallOptions): {
  text: string
  finishReason: LanguageModelV4FinishReason
  usage: LanguageModelV4Usage
} {
  const request = localRequestOf(call)
  const whole = composeAnswer(request)
  const most = (call.maxOutputTokens ?? Number.POSITIVE_INFINITY) * 4
  const text = whole.length > most ? whole.slice(0, most) : whole
  const given = request.passages.map((passage) => passage.content).join('\n')
  const unified = text.length < whole.length ? 'length' : 'stop'
  return {
    text,
    finishReason: { unified, raw: unified },
    usage: estimatedUsage(
      estimateTokens(promptText(call.prompt)) + estimateTokens(given),
      estimateTokens(text),
    ),
  }
}

function estimatedUsage(input: number, output: number): LanguageModelV4Usage {
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
    raw: { estimated: true },
  }
}

function warningsFor(call: LanguageModelV4CallOptions): SharedV4Warning[] {
  const warnings: SharedV4Warning[] = []
  if (call.tools !== undefined && call.tools.length > 0)
    warnings.push({ type: 'unsupported', feature: 'tools' })
  if (call.responseFormat?.type === 'json') warnings.push({ type: 'unsupported', feature: 'responseFormat' })
  return warnings
}

/** Cuts at white space, so that no part ends inside a word. */
function pieces(text: string): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${partLength}}(?=\\s|$)\\s*|[\\s\\S]{1,${partLength}}`, 'g')) ?? []
}
