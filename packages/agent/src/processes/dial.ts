import { connect, type Socket } from 'node:net'
import type { DialTarget } from '@atelier/contract/agent-processes'
import type { AgentResult } from '@atelier/contract/agent-protocol'
import type { Call } from '../call.ts'
import { errnoOf, Fault } from '../fault.ts'
import { drained } from './drained.ts'

/** A port of our own loopback answers at once or not at all. */
const connectMs = 5000

/** Loopback only: whatever else this namespace may one day reach, previews and editors are here. */
const loopback = ['127.0.0.1', '::1'] as const

/** Joins the call to a socket inside the sandbox; each direction ends on its own. */
export async function runDial(call: Call<'dial'>): Promise<AgentResult<'dial'>> {
  const socket = await connectTo(call.params.target, call.signal)
  const abort = () => socket.destroy()
  call.signal.addEventListener('abort', abort, { once: true })
  try {
    await call.emit({ kind: 'connected' })
    await Promise.all([upload(call.body, socket), download(socket, call)])
    return {}
  } finally {
    call.signal.removeEventListener('abort', abort)
    socket.destroy()
  }
}

async function connectTo(target: DialTarget, signal: AbortSignal): Promise<Socket> {
  if (target.kind === 'unix') return await opened(connect({ path: target.path, allowHalfOpen: true }), signal)
  let refusal: unknown
  for (const host of loopback) {
    try {
      return await opened(connect({ host, port: target.port, allowHalfOpen: true }), signal)
    } catch (error) {
      refusal ??= error
    }
  }
  throw refusal
}

function opened(socket: Socket, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (fault: Fault) => {
      settle()
      socket.destroy()
      reject(fault)
    }
    const onAbort = () => fail(new Fault('CANCELLED', 'cancelled'))
    const onTimeout = () => fail(new Fault('TIMEOUT', `no answer within ${connectMs} ms`))
    const onError = (cause: Error) =>
      fail(new Fault('REFUSED', `nobody answers there: ${errnoOf(cause)}`, { cause }))
    const onConnect = () => {
      settle()
      resolve(socket)
    }
    const timer = setTimeout(onTimeout, connectMs)
    // Stays: an error after the call's end has nobody to tell.
    socket.on('error', () => undefined)
    const settle = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      socket.off('error', onError).off('connect', onConnect)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    socket.once('error', onError).once('connect', onConnect)
  })
}

async function upload(body: AsyncIterable<Uint8Array>, socket: Socket): Promise<void> {
  for await (const bytes of body) {
    if (socket.destroyed) return
    if (!socket.write(bytes)) await drained(socket)
  }
  socket.end()
}

/** Not `for await`: that destroys the socket at the end of its input, and with it the other direction. */
function download(socket: Socket, call: Call<'dial'>): Promise<void> {
  return new Promise((resolve, reject) => {
    let sending = Promise.resolve()
    let over = false
    const end = () => {
      if (over) return
      over = true
      sending.then(() => call.sendEnd()).then(resolve, reject)
    }
    socket.on('data', (bytes: Buffer) => {
      socket.pause()
      sending = call.send(bytes)
      sending.then(
        () => socket.resume(),
        () => socket.destroy(),
      )
    })
    // `close` without `end`: reset by the program inside. For the caller that is the end of what it sends.
    socket.once('end', end).once('close', end)
  })
}
