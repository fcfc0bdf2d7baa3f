import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../base/app-error.ts'

const loopbackNames = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Decides which Origin and Host a browser may send. */
export interface OriginPolicy {
  /** Throws INVALID_REQUEST for a Host that this server does not go by: a rebound DNS name would make it same-origin. */
  checkHost(host: string | undefined): void
  /** Throws FORBIDDEN for a foreign Origin; a missing one too where `required`. */
  checkOrigin(headers: IncomingHttpHeaders, options: { required: boolean }): void
}

/**
 * With `baseUrl`, exactly its origin is allowed. Without, the server must listen on loopback or behind nothing:
 * the Origin must equal the Host, and on a loopback listener the Host must be a loopback name.
 */
export function createOriginPolicy(options: { baseUrl: string | undefined; host: string }): OriginPolicy {
  const configured = options.baseUrl === undefined ? undefined : new URL(options.baseUrl)
  const loopbackOnly = loopbackNames.has(options.host) || options.host === '::1'

  function hostAllowed(host: string): boolean {
    const name = hostName(host)
    if (loopbackNames.has(name)) return true
    return configured ? host.toLowerCase() === configured.host : !loopbackOnly
  }

  function originAllowed(origin: string, host: string | undefined): boolean {
    if (configured && origin === configured.origin) return true
    if (!URL.canParse(origin)) return false
    const url = new URL(origin)
    if (configured && !loopbackNames.has(url.hostname)) return false
    return url.protocol.startsWith('http') && host !== undefined && url.host === host.toLowerCase()
  }

  return {
    checkHost(host) {
      if (host !== undefined && !hostAllowed(host)) {
        throw new AppError('INVALID_REQUEST', 'This server does not go by that Host; set ATELIER_BASE_URL')
      }
    },
    checkOrigin(headers, { required }) {
      const { origin } = headers
      if (origin === undefined ? required : !originAllowed(origin, headers.host)) {
        throw new AppError('FORBIDDEN', 'The request comes from a page that this server does not trust')
      }
    },
  }
}

function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '')
}
