import { maxHeaderSize, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError } from '../../base/app-error.ts'
import { newId } from '../../base/ids.ts'
import { failure } from './envelope.ts'
import { securityHeaders } from './security-headers.ts'
import { statusOf } from './to-app-error.ts'

/**
 * Answers, in the envelope, bytes that Node's parser refuses: they never become a request. The connection ends, since
 * nobody knows where its next request would begin.
 */
export function answerClientError(
  cause: Error & { code?: string },
  socket: Duplex,
  limitHeaders: Readonly<Record<string, string | number>>,
): void {
  if (cause.code === 'ECONNRESET' || !socket.writable) {
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
