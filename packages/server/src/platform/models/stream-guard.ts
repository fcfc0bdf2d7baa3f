import {
  InvalidResponseDataError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4FinishReason,
  type LanguageModelV4StreamPart,
  type LanguageModelV4StreamResult,
  type LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { type AnswerLimits, type AnswerWatch, watchAnswer } from './answer-watch.ts'
import { ProviderError, type ProviderErrorOrigin, toProviderError } from './provider-error.ts'

type Part = LanguageModelV4StreamPart
type Reader = ReadableStreamDefaultReader<Part>

/**
 * The same model with limits in time and with honest ends.
 *
 * `doStream` resolves with the first part of the answer; until then every failure rejects with a ProviderError, so that
 * another model can be asked. Then the stream ends in one of these ways:
 * - the provider said that the answer is complete: `finish` with its reason;
 * - it broke, timed out or ended without saying so: `error` with a ProviderError, then `finish` with `interrupted`;
 * - the provider reported a failure inside the stream, or sent what cannot be read: `error`, then `finish` with `error`;
 * - the caller aborted: the stream errors with the reason of the caller's signal.
 * Tool calls are passed on only with a complete answer. Nothing that was sent is in the results.
 */
export function guardModel(
  model: LanguageModelV4,
  options: { limits: AnswerLimits; origin: ProviderErrorOrigin },
): LanguageModelV4 {
  const { limits, origin } = options
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return model.supportedUrls
    },
    async doGenerate(call) {
      // A whole answer is silent until it is there: only the total limit applies.
      const watch = watchAnswer({
        limits: { ...limits, firstPart: limits.total },
        origin,
        callerSignal: call.abortSignal,
      })
      try {
        watch.signal.throwIfAborted()
        const { request: _, ...result } = await model.doGenerate({ ...call, abortSignal: watch.signal })
        // An error in the body of a 200 reads as an answer without content: Google's package does not look for one.
        if (result.content.length === 0 && !isComplete(result.finishReason)) {
          throw new ProviderError('transient', origin, { reason: 'empty_answer' })
        }
        return result
      } catch (error) {
        throw failure(error, watch, origin)
      } finally {
        watch.stop()
      }
    },
    async doStream(call) {
      const watch = watchAnswer({ limits, origin, callerSignal: call.abortSignal })
      try {
        return await guardedStream(model, call, watch, origin)
      } catch (error) {
        const cause = failure(error, watch, origin)
        watch.abandon()
        throw cause
      }
    },
  }
}

async function guardedStream(
  model: LanguageModelV4,
  call: LanguageModelV4CallOptions,
  watch: AnswerWatch,
  origin: ProviderErrorOrigin,
): Promise<LanguageModelV4StreamResult> {
  watch.signal.throwIfAborted()
  const { stream, response } = await model.doStream({ ...call, abortSignal: watch.signal })
  const reader = stream.getReader()
  // Cancelling ends a pending read at once, whatever the provider package does with the signal.
  const cancel = () => void reader.cancel(watch.signal.reason).catch(ignore)
  watch.signal.addEventListener('abort', cancel, { once: true })
  const head = await readHead(reader, watch, origin)
  watch.begin()
  return {
    stream: readableFrom(relay(head, reader, watch, origin), watch.abandon),
    ...(response === undefined ? {} : { response }),
  }
}

/** Reads up to the first part of the answer, or to the end of one that has none. Throws what fails before. */
async function readHead(reader: Reader, watch: AnswerWatch, origin: ProviderErrorOrigin): Promise<Part[]> {
  const head: Part[] = []
  for (;;) {
    const { done, value: part } = await reader.read()
    watch.signal.throwIfAborted()
    if (done) throw new ProviderError('transient', origin, { reason: 'empty_stream' })
    if (part.type === 'error') throw toProviderError(part.error, origin)
    if (part.type === 'ping' || part.type === 'raw') continue
    head.push(part)
    if (part.type === 'finish') {
      if (isComplete(part.finishReason)) return head
      throw incomplete(origin)
    }
    if (isContent(part)) return head
  }
}

/** Leaving this early gives the rest of the stream up, unless its end has been seen. */
async function* relay(
  head: Part[],
  reader: Reader,
  watch: AnswerWatch,
  origin: ProviderErrorOrigin,
): AsyncGenerator<Part> {
  const toolCalls: Part[] = []
  let ended = false
  try {
    for (;;) {
      const part = head.shift() ?? (await reader.read()).value
      if (part === undefined) break
      watch.touch()
      if (watch.signal.aborted) break
      if (part.type === 'error') {
        const unified = InvalidResponseDataError.isInstance(part.error) ? 'interrupted' : 'error'
        return yield* broken(toProviderError(part.error, origin), unified)
      }
      if (part.type === 'finish') {
        ended = true
        if (!isComplete(part.finishReason))
          return yield* broken(incomplete(origin), 'interrupted', part.usage)
        drain(reader)
        return yield* [...toolCalls, part]
      }
      if (part.type === 'tool-call') toolCalls.push(part)
      else yield part
    }
    watch.signal.throwIfAborted()
    yield* broken(incomplete(origin), 'interrupted')
  } catch (error) {
    const cause = failure(error, watch, origin)
    if (!(cause instanceof ProviderError)) throw cause
    yield* broken(cause, 'interrupted')
  } finally {
    watch.stop()
    if (!ended) void reader.cancel().catch(ignore)
  }
}

function* broken(
  error: ProviderError,
  unified: 'error' | 'interrupted',
  usage = unknownUsage,
): Generator<Part> {
  yield { type: 'error', error }
  yield { type: 'finish', finishReason: { unified, raw: error.reason }, usage }
}

function incomplete(origin: ProviderErrorOrigin): ProviderError {
  return new ProviderError('transient', origin, { reason: 'incomplete_stream' })
}

const unknownUsage: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}

/**
 * Whether the provider said that its answer is complete. Measured with streams that end early: OpenAI, Anthropic,
 * Google, Mistral and Groq packages report `interrupted`; DeepSeek and xAI `other` without a raw reason; the one for
 * OpenAI-compatible servers an InvalidResponseDataError; Anthropic nothing at all before the first output.
 */
function isComplete(reason: LanguageModelV4FinishReason): boolean {
  if (reason.unified === 'interrupted') return false
  return reason.raw !== undefined || (reason.unified !== 'other' && reason.unified !== 'error')
}

function isContent(part: Part): boolean {
  if (part.type === 'text-delta' || part.type === 'reasoning-delta') return part.delta !== ''
  return part.type.startsWith('tool-') || part.type === 'file' || part.type === 'source'
}

/** What the caller sees: its own reason if it aborted, else a ProviderError. */
function failure(error: unknown, watch: AnswerWatch, origin: ProviderErrorOrigin): unknown {
  return watch.signal.aborted ? watch.signal.reason : toProviderError(error, origin)
}

/** Reads what follows the end of an answer, so that its connection can be used again; not for longer than a second. */
function drain(reader: Reader): void {
  const timer = setTimeout(() => void reader.cancel().catch(ignore), drainMilliseconds)
  void (async () => {
    while (!(await reader.read()).done);
  })()
    .catch(ignore)
    .finally(() => clearTimeout(timer))
}

const drainMilliseconds = 1000

function readableFrom(parts: AsyncGenerator<Part>, onCancel: () => void): ReadableStream<Part> {
  return new ReadableStream<Part>(
    {
      async pull(controller) {
        try {
          const { done, value } = await parts.next()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          controller.error(error)
        }
      },
      async cancel() {
        onCancel()
        await parts.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

/** For a stream that is given up: how that goes is nobody's concern. */
function ignore(): void {}
