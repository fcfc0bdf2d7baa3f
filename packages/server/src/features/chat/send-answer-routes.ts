import type { FastifyReply } from 'fastify'
import { AppError } from '../../base/app-error.ts'
import { writeEventStream } from '../../platform/http/event-stream.ts'
import type { ChatStream } from './chat-service.ts'
import type { RunFrame } from './run-feed.ts'
import { uiMessageFrames, uiMessageHeaders, wantsUiMessages } from './ui-message-stream.ts'

/**
 * Longest that headers wait for the first content, in milliseconds. Proxies close a silent connection after 60 s and
 * more; from the headers on, comments keep it.
 */
const headersWaitMilliseconds = 15_000

/**
 * Answers with the events of a run. Throws what fails before the headers: such a failure has a status. They wait for the
 * first content, or, `early`, only until the question is stored.
 */
export async function sendAnswer(
  reply: FastifyReply,
  stream: ChatStream,
  signal: AbortSignal,
  { headers = {}, early = false }: { headers?: Record<string, string>; early?: boolean } = {},
): Promise<void> {
  await (early ? stream.stored : firstContentOrPatience(stream))
  await sendRun(reply, {
    runId: stream.run.id,
    chatId: headers['x-chat-id'],
    headers: { ...headersOf(stream), ...headers },
    eventsAfter: (after) => stream.run.events(after, signal),
  })
}

/** Answers with a run's events after a number, in the form that the caller accepts. */
export async function sendRun(
  reply: FastifyReply,
  run: {
    runId: string
    chatId: string | undefined
    headers: Record<string, string>
    after?: number
    /** rejects with what has a status */
    eventsAfter(after: number): AsyncIterable<RunFrame> | Promise<AsyncIterable<RunFrame>>
  },
): Promise<void> {
  const { runId, chatId, after = 0, eventsAfter } = run
  const forUi = wantsUiMessages(reply.request.headers.accept)
  // A UI message is put together from its beginning.
  const frames = await eventsAfter(forUi ? 0 : after)
  reply.hijack()
  await writeEventStream(reply.raw, {
    headers: { ...reply.getHeaders(), ...run.headers, ...(forUi && uiMessageHeaders) },
    events: forUi ? uiMessageFrames(frames, { runId, chatId, after }) : frames,
  })
}

async function firstContentOrPatience({ begun }: ChatStream): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, headersWaitMilliseconds)
  })
  try {
    await Promise.race([begun, patience])
  } catch (error) {
    // An answer that is stopped before it begins has an end all the same, and its chunk tells it.
    if (error instanceof AppError) throw error
  } finally {
    clearTimeout(timer)
  }
}

function headersOf({ context, run }: ChatStream): Record<string, string> {
  const model = context.model()
  return {
    'x-model-used': model.key,
    'x-provider': model.id,
    'x-rag-status': context.ragStatus(),
    'x-tools-enabled': String(context.toolsEnabled()),
    'x-enhanced-features': 'multi-provider, rag, context-aware',
    'x-run-id': run.id,
  }
}
