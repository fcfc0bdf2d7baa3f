import { ApiError, type Client, type EventStream } from '@atelier/client'
import {
  type ChatChunk,
  type ChatDone,
  type ChatFailed,
  type ChatStreamEvent,
  resumeChatStream,
} from '@atelier/contract'
import type { Outcome } from './conversation.ts'

export interface FollowAnswerOptions {
  client: Client
  /** opens the stream for the first time */
  open: () => Promise<EventStream<ChatStreamEvent>>
  /** told which run it is, as soon as the server says so */
  onRun: (runId: string) => void
  onChunk: (chunk: ChatChunk) => void
  signal: AbortSignal
  wait: (milliseconds: number) => Promise<void>
}

/** Attempts to take a lost connection up again without an event in between, and the wait before each. */
const mostResumes = 20
const resumeMs = 1_500

/**
 * Follows an answer to its last chunk. The server goes on while nobody reads, so a connection that is lost is taken up
 * again after the last event that came. Never rejects: what goes wrong is an outcome.
 */
export async function followAnswer(options: FollowAnswerOptions): Promise<Outcome> {
  const { client, signal, wait } = options
  let open = options.open
  let runId: string | null = null
  let lastEventId = 0
  let requestId: string | null = null
  for (let resumes = 0; ; resumes += 1) {
    let failure: unknown = null
    try {
      const { headers, events } = await open()
      requestId = headers.get('x-request-id')
      runId ??= headers.get('x-run-id')
      if (runId !== null) options.onRun(runId)
      for await (const { event, lastEventId: id } of events) {
        if (isLast(event)) return outcomeOf(event, requestId)
        if ('content' in event) options.onChunk(event)
        lastEventId = Number(id) || lastEventId
        resumes = 0
      }
    } catch (error) {
      if (signal.aborted) return { state: 'stopped' }
      failure = error
    }
    if (runId === null || !isLost(failure) || resumes >= mostResumes) {
      return failure === null ? interrupted(requestId) : failed(failure)
    }
    await wait(resumeMs)
    if (signal.aborted) return { state: 'stopped' }
    const query = { runId, lastEventId }
    open = () => client.stream(resumeChatStream, { query }, { signal })
  }
}

/** Whether only the connection is gone: the stream ended early, broke, or a server that restarts cannot be reached yet. */
function isLost(failure: unknown): boolean {
  if (failure === null) return true
  return failure instanceof ApiError && (failure.code === 'NETWORK_ERROR' || failure.status >= 502)
}

function isLast(event: ChatStreamEvent): event is ChatDone | ChatFailed {
  return 'done' in event
}

function outcomeOf(event: ChatDone | ChatFailed, requestId: string | null): Outcome {
  if ('error' in event) {
    const { code, message } = event.error
    return { state: 'failed', code, message, requestId, retryAfterSeconds: null }
  }
  const { finishReason, usage, cost, runId, ragContext, citations } = event
  return {
    state: 'done',
    finishReason,
    usage,
    cost,
    runId,
    relevance: ragContext?.relevanceScore ?? null,
    citations,
  }
}

/** A stream that ends without its last chunk is never shown as a whole answer. */
function interrupted(requestId: string | null): Outcome {
  const message = 'The answer broke off before its end'
  return { state: 'failed', code: 'INTERRUPTED', message, requestId, retryAfterSeconds: null }
}

function failed(error: unknown): Outcome {
  if (error instanceof ApiError) {
    const { code, message, requestId = null, retryAfterSeconds = null } = error
    return { state: 'failed', code, message, requestId, retryAfterSeconds }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { state: 'failed', code: 'BAD_ANSWER', message, requestId: null, retryAfterSeconds: null }
}
