import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AppError } from '../../base/app-error.ts'
import { newId } from '../../base/ids.ts'
import { failure } from '../http/envelope.ts'
import { statusOf, toAppError } from '../http/to-app-error.ts'

interface Log {
  error(fields: object, message: string): void
}

/** What we ourselves answer at a content host: a page for a person, the envelope for a program. */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  unknownError: unknown,
  logger: Log,
): void {
  const { error, requestId, status } = describe(unknownError, logger)
  if (response.headersSent) return void response.destroy()
  const page = (request.headers.accept ?? '').includes('text/html')
  const body = page ? pageOf(status, error.message) : JSON.stringify(failure(error, requestId))
  response.writeHead(status, {
    'content-type': page ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'x-request-id': requestId,
    // What is left of its body would be taken for the next request.
    connection: 'close',
  })
  response.end(body)
}

export function refuseUpgrade(socket: Duplex, unknownError: unknown, logger: Log): void {
  const { error, requestId, status } = describe(unknownError, logger)
  const body = JSON.stringify(failure(error, requestId))
  socket.once('finish', () => socket.destroy())
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? error.code}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

function describe(
  unknownError: unknown,
  logger: Log,
): { error: AppError; requestId: string; status: number } {
  const error = toAppError(unknownError)
  const requestId = newId('request')
  const status = statusOf(error)
  // A program that does not answer is no fault of ours.
  if (status === 500) logger.error({ requestId, err: error, cause: error.cause }, error.message)
  return { error, requestId, status }
}

function pageOf(status: number, message: string): string {
  const text = message.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  const style =
    'body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}'
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${STATUS_CODES[status]}</title><style>${style}</style><h1>${STATUS_CODES[status]}</h1><p>${text}</p></html>\n`
}
