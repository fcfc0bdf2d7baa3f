import type { AgentEvent } from '@atelier/contract/agent-protocol'
import type { AgentCall } from '../../platform/runtime/agent-call.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'

type Opened = Omit<AgentEvent<'files.read'>, 'kind'>

/** A file that is open: what it is, and its bytes, to be read once. Leaving the iteration closes it. */
export interface OpenedFile extends Opened {
  readonly bytes: AsyncIterable<Uint8Array>
  close(): void
}

/** Opens a file, or `length` bytes of it from `offset`. Throws AgentError; the iteration throws it too. */
export async function openFile(
  client: AgentClient,
  params: { path: string; offset?: number; length?: number; maxSize?: number },
  signal?: AbortSignal,
): Promise<OpenedFile> {
  const call = client.open('files.read', params, { signal })
  const messages = call.messages[Symbol.asyncIterator]()
  const first = await messages.next()
  if (first.done === true || first.value.kind !== 'event') {
    await call.result
    throw new Error('a file was read before it was opened')
  }
  const { kind: _, ...opened } = first.value.event
  return { ...opened, bytes: bytesAfter(call, messages), close: () => call.cancel() }
}

/** The data of a call whose first message has been taken. */
export async function* bytesAfter<Name extends 'files.read' | 'files.export'>(
  call: AgentCall<Name>,
  messages: AsyncIterator<{ kind: 'data'; bytes: Uint8Array } | { kind: 'event' }>,
): AsyncGenerator<Uint8Array> {
  let ended = false
  try {
    for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
      if (next.value.kind === 'data') yield next.value.bytes
    }
    await call.result
    ended = true
  } finally {
    if (!ended) call.cancel()
  }
}

/** The whole of a file that is small enough; see `openFile`. */
export async function readWhole(opened: OpenedFile): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of opened.bytes) parts.push(part)
  return Buffer.concat(parts)
}
