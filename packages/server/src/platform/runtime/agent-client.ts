import type { Duplex } from 'node:stream'
import { createFrameDecoder, type Frame, FrameError } from '@atelier/contract/agent-frame'
import { createFrameWriter } from '@atelier/contract/agent-frame-writer'
import {
  AgentFrame,
  type AgentHello,
  type AgentInput,
  type AgentOperationName,
  type AgentResult,
  agentProtocolVersion,
  protocolLimits,
  type ServerFrame,
} from '@atelier/contract/agent-protocol'
import { type AgentCall, createAgentCall, type TrackedCall } from './agent-call.ts'
import { AgentError } from './agent-error.ts'
import { createFramePace } from './frame-pace.ts'

/** How a connection came to its end; `broken` names what the agent did or what failed. */
export type AgentClosed = { kind: 'ended' } | { kind: 'broken'; reason: string }

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** milliseconds until the call is cancelled and fails with TIMEOUT; `open` has none unless given */
  timeoutMs?: number | undefined
  /** bytes the agent may be ahead of the reader */
  window?: number | undefined
}

/** One agent over one stream. Who opened it decides what to do when it closes: there is no reconnecting here. */
export interface AgentClient extends AsyncDisposable {
  readonly hello: AgentHello
  readonly closed: Promise<AgentClosed>
  /** An operation without a stream, or with an upload given whole. Rejects with AgentError. */
  call<Name extends AgentOperationName>(
    op: Name,
    params: AgentInput<Name>,
    options?: CallOptions & { body?: Uint8Array | AsyncIterable<Uint8Array> },
  ): Promise<AgentResult<Name>>
  /** An operation with a stream. */
  open<Name extends AgentOperationName>(
    op: Name,
    params: AgentInput<Name>,
    options?: CallOptions,
  ): AgentCall<Name>
}

export interface AgentClientOptions {
  stream: Duplex
  /** milliseconds a `call` may take */
  callTimeoutMs?: number
  /** milliseconds between pings; an agent that misses two is taken for dead */
  pingMs?: number
  /** milliseconds an agent may take to end a call that was cancelled */
  cancelMs?: number
}

const defaults = { callTimeoutMs: 30_000, pingMs: 15_000, cancelMs: 60_000 } as const

/** Greets the agent. Rejects with AgentError GONE if it does not answer in time or speaks no version of ours. */
export async function connectAgent(options: AgentClientOptions): Promise<AgentClient> {
  const { stream, callTimeoutMs, pingMs, cancelMs } = { ...defaults, ...options }
  const writer = createFrameWriter<ServerFrame>(stream)
  const calls = new Map<number, TrackedCall>()
  const greeting = Promise.withResolvers<AgentHello>()
  const closing = Promise.withResolvers<AgentClosed>()
  let heard = true
  let greeted = false
  let lastId = 0

  const deadline = setTimeout(() => breakOff('no greeting in time'), protocolLimits.helloMs)
  const pinging = setInterval(() => {
    if (!heard) return breakOff('no answer to a ping')
    heard = false
    writer.write({ t: 'ping', nonce: lastId })
  }, pingMs)
  pinging.unref()

  function breakOff(reason: string): void {
    finish({ kind: 'broken', reason })
    stream.destroy()
  }

  /** A call that is cancelled keeps its place until the agent has answered; one that never does is broken. */
  function expectEnd(id: number): void {
    const timer = setTimeout(() => {
      if (calls.has(id)) breakOff('a cancelled call was never ended')
    }, cancelMs)
    timer.unref()
  }

  function finish(closed: AgentClosed): void {
    clearTimeout(deadline)
    clearInterval(pinging)
    const error = new AgentError(
      'GONE',
      closed.kind === 'ended' ? 'the agent has stopped' : `the agent is gone: ${closed.reason}`,
    )
    greeting.reject(error)
    closing.resolve(closed)
    for (const tracked of calls.values()) tracked.fail(error)
    calls.clear()
  }

  function receive(frame: AgentFrame, raw: Frame): void {
    heard = true
    if (frame.t === 'pong') return
    if (frame.t === 'hello') greet(frame)
    else deliver(calls, frame, raw)
  }

  function greet(frame: AgentHello): void {
    if (greeted) throw new FrameError('a second hello')
    if (!frame.versions.includes(agentProtocolVersion)) throw new FrameError('no common version')
    greeted = true
    clearTimeout(deadline)
    writer.write({ t: 'hello', version: agentProtocolVersion })
    greeting.resolve(frame)
  }

  readFrames(stream, receive, (closed) => {
    finish(closed)
    stream.destroy()
  })

  const hello = await greeting.promise
  const open: AgentClient['open'] = (op, params, callOptions = {}) => {
    lastId += 1
    const id = lastId
    const window = callOptions.window ?? protocolLimits.downloadWindow
    const { call, tracked } = createAgentCall({ id, op, window, onCancel: () => expectEnd(id) }, writer)
    calls.set(id, tracked)
    if (stream.destroyed) tracked.fail(new AgentError('GONE', 'the agent is gone'))
    else writer.write({ t: 'open', id, op, params, window })
    guard(call, tracked, callOptions)
    return call
  }

  return {
    hello,
    closed: closing.promise,
    open,
    async call(op, params, { body, ...callOptions } = {}) {
      const call = open(op, params, { timeoutMs: callTimeoutMs, ...callOptions })
      if (body !== undefined) await upload(call, body)
      call.end()
      return await call.result
    },
    async [Symbol.asyncDispose]() {
      finish({ kind: 'ended' })
      stream.end()
    },
  }
}

/** Cancels by signal and by time. The caller is answered at once, the agent when it listens. */
function guard<Name extends AgentOperationName>(
  call: AgentCall<Name>,
  tracked: TrackedCall,
  options: CallOptions,
): void {
  const stop = (error: AgentError) => {
    call.cancel()
    tracked.fail(error)
  }
  const abort = () => stop(new AgentError('CANCELLED', 'cancelled'))
  const { signal, timeoutMs } = options
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => stop(new AgentError('TIMEOUT', `no result within ${timeoutMs} ms`)), timeoutMs)
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted === true) abort()
  const settle = () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
  call.result.then(settle, settle)
}

async function upload<Name extends AgentOperationName>(
  call: AgentCall<Name>,
  body: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
  try {
    if (body instanceof Uint8Array) await call.write(body)
    else for await (const bytes of body) await call.write(bytes)
  } catch (error) {
    // The agent has answered before it had everything, which `result` tells; a failing source is the caller's.
    if (!(error instanceof AgentError)) {
      call.cancel()
      throw error
    }
  }
}

function deliver(
  calls: Map<number, TrackedCall>,
  frame: Exclude<AgentFrame, { t: 'hello' | 'pong' }>,
  { payload, headerBytes }: Frame,
): void {
  const tracked = calls.get(frame.id)
  if (tracked === undefined) throw new FrameError(`call ${frame.id} was never opened`)
  if (frame.t === 'data' && !tracked.receiveData(payload, frame.channel ?? 0))
    throw new FrameError('more data than granted')
  if (frame.t === 'event' && !tracked.receiveEvent(frame.event, headerBytes))
    throw new FrameError('an event out of its schema')
  if (frame.t === 'end') tracked.receiveEnd()
  if (frame.t === 'credit') tracked.grant(frame.bytes)
  if (frame.t !== 'result' && frame.t !== 'fail') return
  calls.delete(frame.id)
  if (frame.t === 'fail') tracked.fail(new AgentError(frame.code, frame.message, frame.details))
  else if (!tracked.finish(frame.result)) {
    tracked.fail(new AgentError('INTERNAL', 'the agent answered out of the schema'))
    throw new FrameError('a result out of its schema')
  }
}

/** Not `for await`: that would destroy the stream at the end of its input before the last frames are out. */
function readFrames(
  stream: Duplex,
  receive: (frame: AgentFrame, raw: Frame) => void,
  onEnd: (closed: AgentClosed) => void,
): void {
  const decoder = createFrameDecoder()
  const pace = createFramePace(stream)
  stream.on('data', (chunk: Buffer) => {
    try {
      for (const raw of decoder.push(chunk)) {
        const frame = AgentFrame.safeParse(raw.header)
        if (!frame.success) throw new FrameError('a header that is not in the protocol')
        receive(frame.data, raw)
        pace.spend(raw.headerBytes)
      }
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      onEnd({ kind: 'broken', reason: error.message })
    }
  })
  stream.once('error', (error) => onEnd({ kind: 'broken', reason: error.message }))
  const end = () =>
    onEnd(decoder.pending() === 0 ? { kind: 'ended' } : { kind: 'broken', reason: 'cut inside a frame' })
  stream.once('end', end).once('close', end)
}
