import type { ChatChunk, ChatDone, ChatFailed, ChatReset, ChatToolUse, ToolUse } from '@atelier/contract'
import { toAppError } from '../../platform/http/to-app-error.ts'
import type { RunFrame } from './run-feed.ts'
import type { RunEvent } from './runs.ts'
import type { UIMessageChunk } from './ui-message-chunk.ts'

/** Asks for the AI SDK's UI message stream, which its `useChat` reads, instead of the specification's chunks. */
export function wantsUiMessages(accept: string | undefined): boolean {
  return /\btext\/event-stream\s*;[^,]*\bprofile="?ui-message-stream"?/i.test(accept ?? '')
}

/** The headers of such a stream beside those of every event stream. */
export const uiMessageHeaders = { 'x-vercel-ai-ui-message-stream': 'v1' } as const

/** Ends every such stream. */
const lastFrame = { json: '[DONE]' }

/**
 * A run's events as UI message chunks, from the run's beginning; those of events up to `after` are left out. The last
 * chunk of an event has its number, so that a reader can ask for what follows.
 */
export async function* uiMessageFrames(
  frames: AsyncIterable<RunFrame>,
  { runId, chatId, after }: { runId: string; chatId: string | undefined; after: number },
): AsyncGenerator<{ id?: number; json: string }, void, void> {
  const translate = createTranslation({ runId, ...(chatId && { chatId }) })
  try {
    for await (const { id, json } of frames) {
      const chunks = translate(JSON.parse(json) as RunEvent)
      if (id <= after) continue
      for (const [index, chunk] of chunks.entries()) {
        const data = JSON.stringify(chunk)
        yield index === chunks.length - 1 ? { id, json: data } : { json: data }
      }
    }
  } catch (error) {
    yield { json: JSON.stringify({ type: 'error', errorText: toAppError(error).message }) }
  }
  yield lastFrame
}

/** Keeps what a chunk needs to know of the ones before it. */
function createTranslation(facts: { runId: string; chatId?: string }): (event: RunEvent) => UIMessageChunk[] {
  let started = false
  let texts = 0
  let open = false
  let called = false
  let model: string | undefined

  function begin(): UIMessageChunk[] {
    if (started) return []
    started = true
    return [{ type: 'start', messageId: facts.runId, messageMetadata: facts }, { type: 'start-step' }]
  }

  function closeText(): UIMessageChunk[] {
    if (!open) return []
    open = false
    return [{ type: 'text-end', id: String(texts) }]
  }

  function modelOf({ model: key, provider, ragActive, toolsEnabled }: ChatChunk): UIMessageChunk[] {
    if (model === key) return []
    model = key
    return [{ type: 'message-metadata', messageMetadata: { model: key, provider, ragActive, toolsEnabled } }]
  }

  function text(event: ChatChunk): UIMessageChunk[] {
    const chunks = modelOf(event)
    // What a model says once its tools have answered is another step.
    if (called) chunks.push({ type: 'finish-step' }, { type: 'start-step' })
    called = false
    if (!open) {
      open = true
      texts += 1
      chunks.push({ type: 'text-start', id: String(texts) })
    }
    chunks.push({ type: 'text-delta', id: String(texts), delta: event.content })
    return chunks
  }

  function tool({ tool: use }: ChatToolUse): UIMessageChunk[] {
    called = use.state !== 'running'
    return [...closeText(), toolChunk(use)]
  }

  function reset({ reason }: ChatReset): UIMessageChunk[] {
    open = false
    model = undefined
    return [{ type: 'reset-step' }, { type: 'message-metadata', messageMetadata: { resetReason: reason } }]
  }

  function done({ citations, done: _, ...rest }: ChatDone): UIMessageChunk[] {
    const sources = citations.map(({ path, startLine, endLine, contentSha256 }) => ({
      type: 'source-document' as const,
      sourceId: `${path}:${startLine}-${endLine}`,
      mediaType: 'text/plain',
      title: `${path}:${startLine}-${endLine}`,
      filename: path,
      providerMetadata: { atelier: { startLine, endLine, contentSha256 } },
    }))
    const messageMetadata = { ...rest, citations }
    const { finishReason } = rest
    const ending: UIMessageChunk[] =
      finishReason === 'aborted'
        ? [
            { type: 'message-metadata', messageMetadata },
            { type: 'abort', reason: 'stopped' },
          ]
        : [{ type: 'finish', finishReason, messageMetadata }]
    return [...closeText(), ...sources, { type: 'finish-step' }, ...ending]
  }

  function failed({ done: _, ...messageMetadata }: ChatFailed): UIMessageChunk[] {
    const { error, finishReason } = messageMetadata
    return [
      ...closeText(),
      { type: 'finish-step' },
      { type: 'error', errorText: error.message },
      { type: 'finish', finishReason, messageMetadata },
    ]
  }

  function body(event: RunEvent): UIMessageChunk[] {
    if ('reset' in event) return reset(event)
    if ('error' in event) return failed(event)
    if ('done' in event) return done(event)
    return 'tool' in event ? tool(event) : text(event)
  }

  return (event) => [...begin(), ...body(event)]
}

/** Tools run here, and which there are is not the client's to know: `dynamic`. */
function toolChunk({
  id: toolCallId,
  name: toolName,
  input,
  state,
  summary,
  result,
}: ToolUse): UIMessageChunk {
  const how = { dynamic: true as const, providerExecuted: true as const }
  if (state === 'running') return { type: 'tool-input-available', toolCallId, toolName, input, ...how }
  if (state === 'failed') return { type: 'tool-output-error', toolCallId, errorText: summary ?? '', ...how }
  return { type: 'tool-output-available', toolCallId, output: { summary, result }, ...how }
}
