import { createReceiveWindow, createSendWindow, dataCost } from '@atelier/contract/agent-flow'
import type { FrameWriter } from '@atelier/contract/agent-frame-writer'
import { createInbox } from '@atelier/contract/agent-inbox'
import {
  type AgentControl,
  type AgentEvent,
  type AgentOperationName,
  type AgentOperationShape,
  type AgentResult,
  agentOperations,
  protocolLimits,
  type ServerFrame,
} from '@atelier/contract/agent-protocol'
import { AgentError } from './agent-error.ts'

/** What the agent says during a call, in its order. Bytes have a channel where the operation has several. */
export type AgentMessage<Name extends AgentOperationName> =
  | { kind: 'data'; bytes: Uint8Array; channel: number }
  | { kind: 'event'; event: AgentEvent<Name> }

/** One call that is open: a stream in both directions and one result. */
export interface AgentCall<Name extends AgentOperationName> {
  readonly id: number
  /** Rejects with AgentError. Never unhandled: who only reads `messages` need not look at it. */
  readonly result: Promise<AgentResult<Name>>
  /**
   * Read once. Ends when the agent sends no more bytes; then look at `result`. What is not read holds the agent back
   * once the window is full. Throws what `result` rejects with.
   */
  readonly messages: AsyncIterable<AgentMessage<Name>>
  /** Resolves when the bytes are on their way: waits for the agent to take what came before. Rejects when the call is over. */
  write(bytes: Uint8Array): Promise<void>
  /** No more bytes follow. */
  end(): void
  /** Said at once, past whatever bytes wait: a stuck program can still be resized and interrupted. */
  control(control: AgentControl<Name>): void
  /** Asks the agent to stop; `result` rejects with CANCELLED unless it came first. */
  cancel(): void
}

/** The client's side of a call: what the connection tells it. */
export interface TrackedCall {
  /** False if the agent broke the protocol: sent more than granted, or something without a schema. */
  receiveData(bytes: Uint8Array, channel: number): boolean
  receiveEvent(event: unknown, headerBytes: number): boolean
  receiveEnd(): void
  grant(bytes: number): void
  /** False if the result does not fit its schema. */
  finish(result: unknown): boolean
  fail(error: AgentError): void
}

/** Bytes of one upload frame; a larger write is cut. */
const uploadChunk = 128 * 1024

interface Costed<Message> {
  message: Message
  cost: number
}

export function createAgentCall<Name extends AgentOperationName>(
  request: { id: number; op: Name; window: number; onCancel: () => void },
  writer: FrameWriter<ServerFrame>,
): { call: AgentCall<Name>; tracked: TrackedCall } {
  const { id } = request
  const shape: AgentOperationShape = agentOperations[request.op]
  const settled = Promise.withResolvers<AgentResult<Name>>()
  settled.promise.catch(() => undefined)
  const sending = createSendWindow(protocolLimits.uploadWindow)
  const receiving = createReceiveWindow(request.window, (bytes) => writer.write({ t: 'credit', id, bytes }))
  const inbox = createInbox<Costed<AgentMessage<Name>>>(({ cost }) => receiving.consume(cost))
  let over = false
  let cancelled = false

  function close(reason: AgentError): void {
    over = true
    sending.close(reason)
  }

  const call: AgentCall<Name> = {
    id,
    result: settled.promise,
    messages: unwrap(inbox),
    async write(bytes) {
      for (let offset = 0; offset < bytes.length; offset += uploadChunk) {
        await sending.ready()
        const part = bytes.subarray(offset, offset + uploadChunk)
        sending.spend(dataCost(part.length))
        writer.write({ t: 'data', id }, part)
        await writer.drained()
      }
    },
    end() {
      if (!over) writer.write({ t: 'end', id })
    },
    control(control) {
      if (!over) writer.write({ t: 'event', id, event: control })
    },
    cancel() {
      if (over || cancelled) return
      cancelled = true
      writer.write({ t: 'cancel', id })
      request.onCancel()
    },
  }

  const tracked: TrackedCall = {
    receiveData(bytes, channel) {
      const cost = dataCost(bytes.length)
      if (shape.download !== true || !receiving.accept(cost)) return false
      inbox.push({ message: { kind: 'data', bytes, channel }, cost })
      return true
    },
    receiveEvent(event, headerBytes) {
      if (!receiving.accept(headerBytes)) return false
      const parsed = shape.events?.safeParse(event)
      if (parsed?.success !== true) return false
      inbox.push({ message: { kind: 'event', event: parsed.data as AgentEvent<Name> }, cost: headerBytes })
      return true
    },
    receiveEnd: () => inbox.end(),
    grant: (bytes) => sending.grant(bytes),
    finish(result) {
      const parsed = shape.result.safeParse(result)
      if (!parsed.success) return false
      settled.resolve(parsed.data as AgentResult<Name>)
      inbox.end()
      close(new AgentError('CANCELLED', 'the call has ended'))
      return true
    },
    fail(error) {
      settled.reject(error)
      inbox.fail(error)
      close(error)
    },
  }
  return { call, tracked }
}

async function* unwrap<Message>(inbox: AsyncIterable<Costed<Message>>): AsyncGenerator<Message> {
  for await (const { message } of inbox) yield message
}
