import type { FastifyReply } from 'fastify'
import { AppError } from '../../base/app-error.ts'
import { writeEventStream } from '../../platform/http/event-stream.ts'
import type { ChatStream } from './chat-service.ts'

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
  reply.hijack()
  await writeEventStream(reply.raw, {
    headers: { ...reply.getHeaders(), ...headersOf(stream), ...headers },
    events: stream.run.events(0, signal),
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
