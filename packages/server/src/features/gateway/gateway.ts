import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider'
import type { Attempt, ModelRecord } from '@atelier/contract'
import type { Logger } from 'pino'
import { costOf } from '../../platform/models/cost.ts'
import { promptText } from '../../platform/models/local/passage.ts'
import type { ModelFallbacks } from '../../platform/models/model-fallbacks.ts'
import { totalTokens, usageFrom } from '../../platform/models/usage.ts'
import type { AnswerEnd, AnswerRequest, ModelPrompt, StreamedAnswer, WholeAnswer } from './answer.ts'
import { answerEvents, finishReasonOf, toToolCall } from './answer-events.ts'
import { type Attempted, attemptInOrder } from './attempts.ts'
import type { CallRouter } from './call-router.ts'
import type { CallLeave, Ledger } from './ledger.ts'
import { chooseModels, type ModelChoice, type ModelQuery } from './model-choice.ts'
import type { ModelSource } from './model-source.ts'
import { type BegunAnswer, restartedEvents } from './restarted-events.ts'
import { withValidToolCallIds } from './tool-call-ids.ts'

/** The one door to every model. */
export interface Gateway {
  /** Throws VALIDATION_ERROR for an unknown model, NOT_FOUND for an unknown vendor. */
  choose(query: ModelQuery): ModelChoice
  /**
   * Resolves with the first content; until then a failure goes over to the next candidate, or rejects. `restart`: what
   * fails after the first content begins again with the next candidate, after a `reset` event.
   */
  stream(request: AnswerRequest, options?: { restart: boolean }): Promise<StreamedAnswer>
  /** Resolves with the whole answer; a failure at any time goes over to the next candidate, or rejects. */
  whole(request: AnswerRequest): Promise<WholeAnswer>
}

export interface GatewayLimits {
  /** longest time to the first content of a streamed answer, all attempts together, in milliseconds */
  firstContent: number
  /** longest time for a whole answer, all attempts together, in milliseconds */
  wholeAnswer: number
}

export interface GatewayDependencies {
  models: ModelSource
  router: CallRouter
  fallbacks: ModelFallbacks
  limits: GatewayLimits
  ledger: Ledger
  logger: Logger
  random?: () => number
}

export function createGateway(dependencies: GatewayDependencies): Gateway {
  const { models, router, fallbacks, limits, ledger, logger, random = Math.random } = dependencies

  function attempt<Result>(
    request: AnswerRequest,
    options: { candidates: readonly ModelRecord[]; attempts: Attempt[]; totalMilliseconds: number },
    run: (model: LanguageModelV4, call: LanguageModelV4CallOptions) => PromiseLike<Result>,
  ): Promise<Attempted<Called<Result>>> {
    return attemptInOrder({
      ...options,
      router,
      signal: request.signal,
      random,
      call: async (model, keyIndex, signal) => {
        const prompt = await request.prompt(model)
        const promptBytes = Buffer.byteLength(promptText(prompt.prompt))
        const leave = await ledger.reserve(request, { model, promptBytes, maxTokens: request.maxTokens })
        try {
          const valid = withValidToolCallIds(prompt.prompt, model.provider)
          const result = await run(
            models.languageModel(model.key, keyIndex),
            callOptions(request, { ...prompt, prompt: valid }, leave, signal),
          )
          return { result, leave, prompt: prompt.prompt }
        } catch (error) {
          ledger.release(leave)
          throw error
        }
      },
    })
  }

  /** What is done once with every answer that has begun, however it ends. */
  function close(request: AnswerRequest, answer: LoggedAnswer & { leave: CallLeave }): void {
    const { model, end, leave } = answer
    ledger.settle(leave, { ...request, ...end, model })
    logAnswer(logger, request, answer)
  }

  /** One streamed answer of the first of the candidates that begins one. */
  async function begin(
    request: AnswerRequest,
    candidates: readonly ModelRecord[],
    attempts: Attempt[],
  ): Promise<BegunAnswer> {
    const started = performance.now()
    const options = { candidates, attempts, totalMilliseconds: limits.firstContent }
    const {
      model,
      result: called,
      route,
    } = await attempt(request, options, (asked, call) => asked.doStream(call))
    const events = answerEvents({
      stream: called.result.stream,
      model,
      notice: request.choice.notice,
      signal: request.signal,
      keepParts: request.settings.tools !== undefined,
      promptText: () => promptText(called.prompt),
      onEnd(end, error) {
        route.ended(end.finishReason === 'aborted' ? null : (error ?? undefined))
        route.used(totalTokens(end.usage))
        close(request, { model, attempts, end, error, started, leave: called.leave })
      },
    })
    return { model, events }
  }

  return {
    choose: (query) => chooseModels(models, query, fallbacks),

    async stream(request, { restart } = { restart: false }) {
      const attempts = [...request.choice.unavailable]
      const { candidates } = request.choice
      const { model, events } = await begin(request, candidates, attempts)
      if (!restart) return { model, attempts, events }
      const again = (rest: readonly ModelRecord[]) => begin(request, rest, attempts)
      return { model, attempts, events: restartedEvents({ first: { model, events }, candidates, again }) }
    },

    async whole(request) {
      const started = performance.now()
      const attempts = [...request.choice.unavailable]
      const { candidates, notice } = request.choice
      const options = { candidates, attempts, totalMilliseconds: limits.wholeAnswer }
      const attempted = await attempt(request, options, (asked, call) => asked.doGenerate(call))
      const { model, route } = attempted
      const { result, leave, prompt } = attempted.result
      route.ended(undefined)
      const answer = textOfContent(result.content)
      const toolCalls = result.content.filter((part) => part.type === 'tool-call').map(toToolCall)
      const usage = usageFrom(result.usage, { prompt: promptText(prompt), answer })
      const finishReason = finishReasonOf(result.finishReason.unified, toolCalls.length > 0)
      const end = { finishReason, usage, cost: costOf(usage, model.pricing) }
      route.used(totalTokens(usage))
      close(request, { model, attempts, end, error: null, started, leave })
      return { model, attempts, text: `${notice ?? ''}${answer}`, toolCalls, ...end }
    },
  }
}

/** What a call gave, and with which leave and prompt. */
interface Called<Result> {
  result: Result
  leave: CallLeave
  prompt: LanguageModelV4Prompt
}

interface LoggedAnswer {
  model: ModelRecord
  attempts: readonly Attempt[]
  end: AnswerEnd
  error: Error | null
  started: number
}

/** One line an answer, and not a word of the conversation. */
function logAnswer(logger: Logger, request: AnswerRequest, answer: LoggedAnswer): void {
  const { model, attempts, end, error, started } = answer
  const { requestId, runId, userId, workspaceId } = request
  logger.info(
    {
      requestId,
      runId,
      userId,
      workspaceId,
      model: model.key,
      attempts,
      finishReason: end.finishReason,
      usage: end.usage,
      tokens: totalTokens(end.usage),
      cost: end.cost,
      milliseconds: Math.round(performance.now() - started),
      ...(error === null ? {} : { error: error.message }),
    },
    'answer',
  )
}

function callOptions(
  { settings, maxTokens }: AnswerRequest,
  prompt: ModelPrompt,
  leave: CallLeave,
  abortSignal: AbortSignal,
): LanguageModelV4CallOptions {
  const maxOutputTokens = leave.maxOutputTokens ?? maxTokens
  return {
    ...settings,
    ...prompt,
    abortSignal,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  }
}

function textOfContent(content: LanguageModelV4GenerateResult['content']): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}
