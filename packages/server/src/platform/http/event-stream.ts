import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { ErrorCode } from '@atelier/contract'
import type { AppError } from '../../base/app-error.ts'
import { toAppError } from './to-app-error.ts'

/** Proxies close a silent connection after 60 s and more; a comment keeps it. */
export const commentIntervalMilliseconds = 15_000

/** `id`: event number, the client's `Last-Event-ID`. `json`: the data as a JSON text, where it is one already. */
export type ServerSentEvent<Data = unknown> = { id?: number; data: Data } | { id?: number; json: string }

/** Characters that are put together before they are written at once: about what one write to a socket takes. */
const flushLength = 16 * 1024

/**
 * Writes events as they come and ends the response after the last. What is ready in the same turn of the event loop
 * goes out in one write. Waits for the client's socket, so that a slow reader slows its producer and nothing piles up
 * here. Returns early when the client has gone.
 */
export async function writeEventStream(
  response: ServerResponse,
  options: {
    headers: Record<string, string | number | string[] | undefined>
    events: AsyncIterable<ServerSentEvent>
    /** told of events that fail; the client is sent the failure as its last event */
    onFailure?: (error: AppError) => void
  },
): Promise<void> {
  const headers = {
    ...options.headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  }
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) response.setHeader(name, value)
  }
  response.statusCode = 200
  let pending = ''
  // The headers go out in this turn, too, with the first events where these are ready.
  let scheduled: NodeJS.Immediate | undefined = setImmediate(flush)

  function flush(): void {
    clearImmediate(scheduled)
    scheduled = undefined
    if (pending !== '') response.write(pending)
    else if (!response.headersSent) response.flushHeaders()
    pending = ''
  }

  const comments = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': still here\n\n')
  }, commentIntervalMilliseconds)
  comments.unref()
  try {
    for await (const event of options.events) {
      if (response.destroyed) return
      pending += frame(event)
      if (pending.length >= flushLength) flush()
      else scheduled ??= setImmediate(flush)
      if (response.writableNeedDrain) await drained(response)
    }
  } catch (error) {
    const failed = toAppError(error)
    options.onFailure?.(failed)
    pending += failureFrame(failed.code, failed.message)
  } finally {
    clearInterval(comments)
    flush()
    response.end()
  }
}

/** The last event of a stream that fails. */
export function failureFrame(code: ErrorCode, message: string): string {
  return frame({ data: { error: { code, message }, done: true, finishReason: 'error' } })
}

function frame(event: ServerSentEvent): string {
  const payload = `data: ${'json' in event ? event.json : JSON.stringify(event.data)}\n\n`
  return event.id === undefined ? payload : `id: ${event.id}\n${payload}`
}

async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return
  const stop = new AbortController()
  try {
    await Promise.race([
      once(response, 'drain', { signal: stop.signal }),
      once(response, 'close', { signal: stop.signal }),
    ])
  } finally {
    stop.abort()
  }
}
