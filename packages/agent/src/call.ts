import { createReceiveWindow, createSendWindow, dataCost } from '@atelier/contract/agent-flow'
import type { FrameWriter } from '@atelier/contract/agent-frame-writer'
import { createInbox } from '@atelier/contract/agent-inbox'
import {
  type AgentControl,
  type AgentEvent,
  type AgentFrame,
  type AgentOperationName,
  type AgentOperationShape,
  type AgentParams,
  agentOperations,
  protocolLimits,
} from '@atelier/contract/agent-protocol'
import { Fault } from './fault.ts'

/** What an operation sees of the call it answers. */
export interface Call<Name extends AgentOperationName = AgentOperationName> {
  readonly id: number
  readonly params: AgentParams<Name>
  /** aborted by `cancel` and by the end of the connection */
  readonly signal: AbortSignal
  /** what the server uploads */
  readonly body: AsyncIterable<Uint8Array>
  /** Sends bytes once the server has granted them and the stream takes them. */
  send(bytes: Uint8Array, channel?: number): Promise<void>
  emit(event: AgentEvent<Name>): Promise<void>
  /** Says that no more bytes follow, while the call goes on. */
  sendEnd(): void
  /** Hears what the server says during the call. */
  onControl(listener: (control: AgentControl<Name>) => void): void
}

/** The connection's side of a call. */
export interface OpenCall {
  readonly call: Call
  /** False if the server sent more than it was granted. */
  receiveData(bytes: Uint8Array): boolean
  /** False if the event is not one of the operation's controls. They are handled at once and so cost no grant. */
  receiveEvent(event: unknown): boolean
  receiveEnd(): void
  grant(bytes: number): void
  close(reason: Error): void
}

/** Throws INVALID if the parameters do not fit the operation's schema. */
export function openCall(
  request: { id: number; op: AgentOperationName; params: unknown; window: number },
  writer: FrameWriter<AgentFrame>,
): OpenCall {
  const shape: AgentOperationShape = agentOperations[request.op]
  const { id } = request
  const aborter = new AbortController()
  const sending = createSendWindow(request.window)
  // After its result or failure the server knows the call no more: a frame of it would break the protocol.
  let over: Error | undefined
  const receiving = createReceiveWindow(protocolLimits.uploadWindow, (bytes) => {
    if (!over) writer.write({ t: 'credit', id, bytes })
  })
  const body = createInbox<Uint8Array>((bytes) => receiving.consume(dataCost(bytes.length)))
  let listener: ((control: never) => void) | undefined

  const call: Call = {
    id,
    params: parseParams(shape, request.params) as never,
    signal: aborter.signal,
    body,
    async send(bytes, channel) {
      await sending.ready()
      if (over) throw over
      sending.spend(dataCost(bytes.length))
      writer.write(channel === undefined ? { t: 'data', id } : { t: 'data', id, channel }, bytes)
      await writer.drained()
    },
    async emit(event) {
      await sending.ready()
      if (over) throw over
      sending.spend(writer.write({ t: 'event', id, event }))
      await writer.drained()
    },
    sendEnd() {
      if (!over) writer.write({ t: 'end', id })
    },
    onControl(heard) {
      listener = heard as (control: never) => void
    },
  }

  return {
    call,
    receiveData(bytes) {
      if (!receiving.accept(dataCost(bytes.length))) return false
      body.push(bytes)
      return true
    },
    receiveEvent(event) {
      const control = shape.controls?.safeParse(event)
      if (control?.success !== true) return false
      listener?.(control.data as never)
      return true
    },
    receiveEnd: () => body.end(),
    grant: (bytes) => sending.grant(bytes),
    close(reason) {
      over ??= reason
      aborter.abort(reason)
      sending.close(reason)
      body.fail(reason)
    },
  }
}

function parseParams(shape: AgentOperationShape, params: unknown): unknown {
  const parsed = shape.params.safeParse(params)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), issue: message }))
  const first = issues[0]
  throw new Fault('INVALID', first === undefined ? 'invalid' : `${first.field}: ${first.issue}`, {
    details: { issues: issues.slice(0, 20) },
  })
}
