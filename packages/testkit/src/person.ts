import { randomUUID } from 'node:crypto'
import {
  type CallInput,
  createApiKey,
  type EndpointShape,
  getToken,
  signIn,
  signUp,
  type User,
} from '@atelier/contract'

/** Somebody with an account, signed in, as a browser would be. */
export interface Person {
  readonly user: User
  readonly email: string
  readonly password: string
  /** the value of a `Cookie` header */
  readonly cookie: string
  /** `cookie` and the `origin` that a page of the server has */
  readonly headers: Record<string, string>
  /** a JWT of this session */
  token(): Promise<string>
  /** an API key, with every scope unless told */
  apiKey(wanted?: Partial<CallInput<typeof createApiKey>['body']>): Promise<string>
  /** another session of the same person */
  signInAgain(): Promise<Person>
}

/** Signs somebody up. The first on a server is its administrator. */
export async function signUpPerson(
  url: string,
  details: { name?: string; email?: string; password?: string } = {},
): Promise<Person> {
  const { name = 'Ada', password = 'correct horse battery' } = details
  const email = details.email ?? `${randomUUID()}@example.com`
  const response = await send(url, signUp, {}, { name, email, password })
  return personOf(url, response, { email, password })
}

async function personOf(
  url: string,
  response: Response,
  credentials: { email: string; password: string },
): Promise<Person> {
  const { user } = await dataOf<{ user: User }>(response)
  const [setCookie = ''] = response.headers.getSetCookie()
  const cookie = setCookie.split(';')[0] ?? ''
  const headers = { cookie, origin: url }
  return {
    user,
    ...credentials,
    cookie,
    headers,
    token: async () => (await dataOf<{ token: string }>(await send(url, getToken, headers))).token,
    apiKey: async (wanted = {}) => {
      const body = { name: 'test', scopes: createApiKey.body.shape.scopes.element.options, ...wanted }
      return (await dataOf<{ key: string }>(await send(url, createApiKey, headers, body))).key
    },
    signInAgain: async () => personOf(url, await send(url, signIn, {}, credentials), credentials),
  }
}

function send(
  url: string,
  { method, path }: EndpointShape,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Response> {
  if (body === undefined) return fetch(url + path, { method, headers })
  return fetch(url + path, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

async function dataOf<Data>(response: Response): Promise<Data> {
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`)
  return ((await response.json()) as { data: Data }).data
}
