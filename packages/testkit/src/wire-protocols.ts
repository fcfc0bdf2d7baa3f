/** How a provider's requests, errors and streams look on the wire. */
export type WireProtocol = 'openai' | 'anthropic' | 'google'

export function wireProtocolOf(path: string): WireProtocol {
  if (path.includes('/v1beta/')) return 'google'
  return path.includes('/messages') ? 'anthropic' : 'openai'
}

interface Refusal {
  status: number
  code?: string
  message?: string
}

/** The body of an error answer, in the form each provider documents. */
export function errorBody(protocol: WireProtocol, refusal: Refusal): unknown {
  const message = refusal.message ?? `mock refusal ${refusal.status}`
  const code = refusal.code ?? usualCode(protocol, refusal.status)
  if (protocol === 'anthropic') return { type: 'error', error: { type: code, message } }
  if (protocol === 'google') return { error: { code: refusal.status, message, status: code } }
  return { error: { message, type: code, code, param: null } }
}

/** A failure inside a stream that began well. */
export function errorEvent(protocol: WireProtocol): string {
  const body = JSON.stringify(errorBody(protocol, { status: 503, message: 'overloaded' }))
  return protocol === 'anthropic' ? `event: error\ndata: ${body}\n\n` : `data: ${body}\n\n`
}

const usualCodes: Record<WireProtocol, Record<number, string>> = {
  openai: { 401: 'invalid_api_key', 429: 'rate_limit_exceeded', 503: 'server_error' },
  anthropic: { 401: 'authentication_error', 429: 'rate_limit_error', 503: 'overloaded_error' },
  google: { 401: 'UNAUTHENTICATED', 429: 'RESOURCE_EXHAUSTED', 503: 'UNAVAILABLE' },
}

function usualCode(protocol: WireProtocol, status: number): string {
  return usualCodes[protocol][status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
}
