import { maxHeaderSize, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError } from '../../base/app-error.ts'
import { newId } from '../../base/ids.ts'
import { failure } from './envelope.ts'
import { securityHeaders } from './security-headers.ts'
import { statusOf } from './to-app-error.ts'

/** The answers that are open, by their connection: bytes that break may come after a request that is being answered. */
export interface OpenAnswers {
  add(response: ServerResponse): void
  /** Whether the next bytes on a connection belong to the answer of a request that arrived before. */
  underWay(socket: Duplex): boolean
}

export function createOpenAnswers(): OpenAnswers {
  const bySocket = new WeakMap<Duplex, Set<ServerResponse>>()
  return {
    add(response) {
      const { socket } = response.req
      const open = bySocket.get(socket) ?? new Set()
      bySocket.set(socket, open.add(response))
      response.once('close', () => open.delete(response))
    },
    underWay: (socket) =>
      [...(bySocket.get(socket) ?? [])].some(({ headersSent, req }) => headersSent || req.complete),
  }
}

/**
 * Answers, in the envelope, bytes that Node's parser refuses: they never become a request. The connection ends, since
 * nobody knows where its next request would begin; at once where an answer is under way, which ours would garble.
 */
export function answerClientError(
  cause: Error & { code?: string },
  socket: Duplex,
  answers: OpenAnswers,
  limitHeaders: Readonly<Record<string, string | number>>,
): void {
  if (cause.code === 'ECONNRESET' || !socket.writable || answers.underWay(socket)) {
    socket.destroy(cause)
    return
  }
  const { status, error } = faultOf(cause)
  const requestId = newId('request')
  const body = JSON.stringify(failure(error, requestId))
  const headers = {
    ...Object.fromEntries(securityHeaders()),
    ...limitHeaders,
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`, () =>
    socket.destroy(),
  )
}

function faultOf({ code }: { code?: string }): { status: number; error: AppError } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `The headers are larger than ${maxHeaderSize} bytes`
    return { status: 431, error: new AppError('PAYLOAD_TOO_LARGE', message) }
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { status: 408, error: new AppError('TIMEOUT', 'The request did not arrive in time') }
  }
  const error = new AppError('INVALID_REQUEST', 'This is not a valid HTTP request')
  return { status: statusOf(error), error }
}
