import type { EndpointShape } from '@atelier/contract'

/** Every part that any endpoint can have; `CallInput` of an endpoint is what the compiler lets a caller pass. */
export interface RequestParts {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  form?: FormData
}

export interface BuiltRequest {
  method: string
  url: string
  headers: Record<string, string>
  body: string | FormData | undefined
}

/** Turns an endpoint and its input into a request. Throws TypeError for a path parameter that is missing or empty. */
export function buildRequest(baseUrl: string, endpoint: EndpointShape, parts: RequestParts): BuiltRequest {
  const url =
    baseUrl.replace(/\/$/, '') + fillPath(endpoint, parts.params ?? {}) + queryString(parts.query ?? {})
  if (parts.form !== undefined) return { method: endpoint.method, url, headers: {}, body: parts.form }
  if (parts.body === undefined) return { method: endpoint.method, url, headers: {}, body: undefined }
  const headers = { 'content-type': 'application/json' }
  return { method: endpoint.method, url, headers, body: JSON.stringify(parts.body) }
}

function fillPath(endpoint: EndpointShape, params: Record<string, unknown>): string {
  return endpoint.path.replace(/:([A-Za-z]\w*)/g, (_whole, name: string) => {
    const value = params[name]
    if (value === undefined || value === null || value === '') {
      throw new TypeError(`${endpoint.name}: the path parameter ${name} is missing`)
    }
    return encodeURIComponent(String(value))
  })
}

/** Absent members are left out; a list repeats its name. */
function queryString(query: Record<string, unknown>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null) search.append(name, String(item))
    }
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}
