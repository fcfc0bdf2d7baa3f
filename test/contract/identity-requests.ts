import { FailureEnvelope } from '@atelier/contract'

/** The few ways in which the identity tests talk to a server. */
export interface Requests {
  get(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
}

export function requestsTo(url: string): Requests {
  return {
    get: (path, headers = {}) => fetch(url + path, { headers }),
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
  }
}

export async function failureOf(response: Response): Promise<FailureEnvelope['error']> {
  return FailureEnvelope.parse(await response.json()).error
}

export async function dataOf<Data>(response: Response): Promise<Data> {
  return ((await response.json()) as { data: Data }).data
}

export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` }
}

/** The session token inside a cookie. */
export function tokenIn(cookie: string): string {
  const value = decodeURIComponent(cookie.split(';')[0]?.split('=')[1] ?? '')
  return value.slice(0, value.lastIndexOf('.'))
}
