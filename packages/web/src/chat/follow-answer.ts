import { ApiError, type Client, type EventStream } from '@atelier/client'
import {
  type ChatChunk,
  type ChatDone,
  type ChatFailed,
  type ChatStreamEvent,
  type ChatToolUse,
  resumeChatStream,
} from '@atelier/contract'
import type { Outcome } from './turn.ts'

export interface FollowAnswerOptions {
  client: Client
  /** opens the stream for the first time */
  open: () => Promise<EventStream<ChatStreamEvent>>
  /** told which run of which chat it is, as soon as the server says so */
  onHeaders: (headers: Headers) => void
  onEvent: (event: ChatChunk | ChatToolUse) => void
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
      options.onHeaders(headers)
      for await (const { event, lastEventId: id } of events) {
        if ('done' in event) return outcomeOf(event, requestId)
        options.onEvent(event)
        lastEventId = Number(id) || lastEventId
        resumes = 0
      }
    } catch (error) {
      if (signal.aborted) return { state: 'stopped' }
      failure = error
    }
    if (runId === null || !isLost(failure) || resumes >= mostResumes) return failed(failure, requestId)
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

function outcomeOf(event: ChatDone | ChatFailed, requestId: string | null): Outcome {
  if ('error' in event) {
    const { error, attempts, finishReason } = event
    const facts = { ...error, status: 0, requestId: requestId ?? undefined }
    const interrupted = finishReason === 'interrupted'
    return { state: 'failed', interrupted, error: new ApiError(facts), attempts }
  }
  const { finishReason, usage, cost, ragContext, citations, attempts } = event
  return { state: 'done', finishReason, usage, cost, ragContext, citations, attempts }
}

/** `null`: the stream ended without its last chunk, which is never shown as a whole answer. */
function failed(failure: unknown, requestId: string | null): Outcome {
  if (failure instanceof ApiError) {
    return { state: 'failed', interrupted: false, error: failure, attempts: [] }
  }
  const message =
    failure === null ? 'The connection ended' : failure instanceof Error ? failure.message : String(failure)
  const error = new ApiError({
    code: 'BAD_ANSWER',
    status: 0,
    message,
    requestId: requestId ?? undefined,
    cause: failure,
  })
  return { state: 'failed', interrupted: failure === null, error, attempts: [] }
}
