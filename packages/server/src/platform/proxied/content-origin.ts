import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a request comes from a page of the content host itself, or from a person who opens an address. Cookies do not tell:
 * browsers send them along with what another workspace's page asks for, where the content domain is one site.
 */
export function fromOwnPage(
  { headers, method }: { headers: IncomingHttpHeaders; method?: string | undefined },
  origin: string,
): boolean {
  const site = headers['sec-fetch-site']
  if (site === 'same-origin' || site === 'none') return true
  // Browsers send it to trustworthy origins only, that is over TLS and to loopback.
  if (site === undefined) return headers.origin === undefined || headers.origin === origin
  const opensAddress = headers['sec-fetch-mode'] === 'navigate' && (method === 'GET' || method === 'HEAD')
  return opensAddress && ['document', 'iframe'].includes(String(headers['sec-fetch-dest']))
}

/** Whether the browser is about to show the answer as a page, so that it may be sent elsewhere first. */
export function isNavigation({
  headers,
  method,
}: {
  headers: IncomingHttpHeaders
  method?: string | undefined
}): boolean {
  if (method !== 'GET') return false
  const mode = headers['sec-fetch-mode']
  return mode === undefined ? (headers.accept ?? '').includes('text/html') : mode === 'navigate'
}
