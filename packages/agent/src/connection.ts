import type { Readable, Writable } from 'node:stream'
import { createFrameDecoder, FrameError } from '@atelier/contract/agent-frame'
import { createFrameWriter } from '@atelier/contract/agent-frame-writer'
import {
  type AgentFrame,
  type AgentHello,
  type AgentOperationName,
  agentProtocolVersion,
  protocolLimits,
  ServerFrame,
} from '@atelier/contract/agent-protocol'
import { type Call, type OpenCall, openCall } from './call.ts'
import { Fault, faultFrom } from './fault.ts'

/** Answers one call; what it throws becomes the call's failure. */
export type Answer = (op: AgentOperationName, call: Call) => Promise<unknown>

/**
 * Speaks the protocol until the stream ends or the peer breaks it. Resolves when every call has come to its end;
 * calls that are open when the stream ends are cancelled first. The reason is null for an orderly end.
 */
export async function serveConnection(deps: {
  input: Readable
  output: Writable
  hello: AgentHello
  answer: Answer
}): Promise<{ breach: string | null }> {
  const { input, output, answer } = deps
  const writer = createFrameWriter<AgentFrame>(output)
  const calls = new Map<number, OpenCall>()
  const running = new Set<Promise<void>>()
  let greeted = false

  function open(frame: Extract<ServerFrame, { t: 'open' }>): void {
    if (calls.has(frame.id)) throw new FrameError(`call ${frame.id} is open already`)
    try {
      if (calls.size >= protocolLimits.calls)
        throw new Fault('BUSY', 'too many calls', { details: { limit: protocolLimits.calls } })
      const opened = openCall(frame, writer)
      calls.set(frame.id, opened)
      const done = run(frame.op, opened).finally(() => running.delete(done))
      running.add(done)
    } catch (error) {
      fail(frame.id, error)
    }
  }

  async function run(op: AgentOperationName, opened: OpenCall): Promise<void> {
    const { id, signal } = opened.call
    try {
      const result = await answer(op, opened.call)
      writer.write({ t: 'result', id, result })
    } catch (error) {
      fail(id, signal.aborted ? new Fault('CANCELLED', 'cancelled', { cause: error }) : error)
    } finally {
      calls.delete(id)
      opened.close(new Fault('CANCELLED', 'the call has ended'))
    }
  }

  function fail(id: number, error: unknown): void {
    const { code, message, details } = faultFrom(error)
    if (code === 'INTERNAL') console.error(error)
    writer.write({
      t: 'fail',
      id,
      code,
      message: message.slice(0, 2000),
      ...(details === undefined ? {} : { details }),
    })
  }

  function receive(frame: ServerFrame, payload: Uint8Array): void {
    if (!greeted) {
      if (frame.t !== 'hello' || frame.version !== agentProtocolVersion)
        throw new FrameError('no common version')
      greeted = true
      return
    }
    if (frame.t === 'hello') throw new FrameError('a second hello')
    if (frame.t === 'open') open(frame)
    else if (frame.t === 'ping') writer.write({ t: 'pong', nonce: frame.nonce })
    else deliver(frame, payload)
  }

  function deliver(frame: Exclude<ServerFrame, { t: 'hello' | 'open' | 'ping' }>, payload: Uint8Array): void {
    // A call that has just ended may still be sent to; those frames mean nothing any more.
    const target = calls.get(frame.id)
    if (target === undefined) return
    if (frame.t === 'data' && !target.receiveData(payload))
      throw new FrameError(`call ${frame.id} was sent more than granted`)
    if (frame.t === 'event' && !target.receiveEvent(frame.event))
      throw new FrameError(`call ${frame.id}: bad event`)
    if (frame.t === 'end') target.receiveEnd()
    if (frame.t === 'credit') target.grant(frame.bytes)
    if (frame.t === 'cancel') target.close(new Fault('CANCELLED', 'cancelled'))
  }

  writer.write(deps.hello)
  const breach = await readFrames(input, receive)
  for (const target of calls.values()) target.close(new Fault('CANCELLED', 'the connection has ended'))
  await Promise.allSettled(running)
  output.end()
  return { breach }
}

/** Reads until the end; the first thing that is not the protocol ends it with a reason. */
async function readFrames(
  input: Readable,
  receive: (frame: ServerFrame, payload: Uint8Array) => void,
): Promise<string | null> {
  const decoder = createFrameDecoder()
  try {
    for await (const chunk of input) {
      if (!Buffer.isBuffer(chunk)) throw new FrameError('the stream delivered text')
      for (const raw of decoder.push(chunk)) {
        const frame = ServerFrame.safeParse(raw.header)
        if (!frame.success) throw new FrameError('a header that is not in the protocol')
        receive(frame.data, raw.payload)
      }
    }
    return decoder.pending() === 0 ? null : 'the stream ended inside a frame'
  } catch (error) {
    if (error instanceof FrameError) return error.message
    // The stream itself broke: the server has gone.
    return error instanceof Error ? error.message : 'the stream failed'
  }
}
