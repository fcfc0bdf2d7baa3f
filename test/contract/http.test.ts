import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Client, createClient } from '@atelier/client'
import {
  createWorkspace,
  deleteApiKey,
  endpoints,
  FailureEnvelope,
  listApiKeys,
  signOut,
  watchFiles,
} from '@atelier/contract'
import { signUpPerson, startMockProviders, startTestServer, type TestServer } from '@atelier/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let server: TestServer

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server[Symbol.asyncDispose]())

/** A path of an endpoint with its parameters filled in by ids that nothing has. */
function examplePath(path: string): string {
  const prefixes: Record<string, string> = { workspaceId: 'ws', jobId: 'job', userId: 'usr', apiKeyId: 'key' }
  return path.replace(
    /:([A-Za-z]+)/g,
    (_, name: string) => `${prefixes[name] ?? name}_01JD8XQ4ZK3V5N6P7R8S9T0ABC`,
  )
}

async function failureOf(response: Response): Promise<FailureEnvelope['error']> {
  const envelope = FailureEnvelope.parse(await response.json())
  expect(envelope.requestId).toBe(response.headers.get('x-request-id'))
  return envelope.error
}

it.each([
  ['POST', '/api/workspaces', { name: 'cut\0here' }],
  ['POST', '/api/auth/api-keys', { name: 'cut\0here', scopes: ['ai'] }],
  [
    'POST',
    '/api/auth/sign-up/email',
    { name: 'cut\0here', email: 'nul@example.org', password: 'long enough 1' },
  ],
])('[HTTP17] %s %s with a NUL in a text is the caller’s fault', async (method, path, body) => {
  const { headers } = await signUpPerson(server.url)
  const response = await fetch(server.url + path, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(400)
  expect(await failureOf(response)).toMatchObject({ code: 'INVALID_REQUEST' })
})

describe('every endpoint', () => {
  const guarded = endpoints.filter(({ access }) => access !== 'public')

  it.each(guarded.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    '[HTTP1, HTTP8] %s refuses a caller without a credential, in the envelope, with its limit',
    async (_title, endpoint) => {
      const response = await fetch(server.url + examplePath(endpoint.path), { method: endpoint.method })
      expect(response.status).toBe(401)
      // OpenAI's dialect has no envelope.
      if (endpoint.path.startsWith('/v1/')) {
        expect(await response.json()).toMatchObject({ error: { type: 'authentication_error' } })
      } else expect(await failureOf(response)).toMatchObject({ code: 'UNAUTHORIZED' })
      expect(response.headers.get('ratelimit-policy')).toMatch(new RegExp(`^"${endpoint.rate}";q=\\d+;w=60$`))
      expect(response.headers.get('ratelimit')).toMatch(new RegExp(`^"${endpoint.rate}";r=\\d+;t=\\d+$`))
      for (const name of ['limit', 'remaining', 'reset']) {
        expect(Number(response.headers.get(`x-ratelimit-${name}`))).toBeGreaterThan(0)
      }
    },
  )

  it('[HTTP11] is in the OpenAPI document, and nothing else is', async () => {
    const document = (await (await fetch(`${server.url}/api/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>
    }
    const described = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map((one) => one.operationId),
    )
    expect(described.sort()).toEqual(endpoints.map(({ name }) => name).sort())
    const docs = await fetch(`${server.url}/docs`)
    expect(docs.headers.get('content-type')).toContain('text/html')
    expect((await fetch(`${server.url}/docs/explorer.js`)).status).toBe(200)
  })
})

describe('requests that cannot be served', () => {
  it('[HTTP5] an unknown path is 404 in the envelope, with the limits of the standard class', async () => {
    const response = await fetch(`${server.url}/api/nothing-here`)
    expect(response.status).toBe(404)
    expect(await failureOf(response)).toMatchObject({ code: 'NOT_FOUND' })
    expect(response.headers.get('ratelimit-policy')).toContain('"standard"')
  })

  it('[HTTP5] a wrong method is 405 and names the right ones', async () => {
    const response = await fetch(`${server.url}/api/health`, { method: 'DELETE' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET')
    expect(await failureOf(response)).toMatchObject({ code: 'METHOD_NOT_ALLOWED' })
  })

  it.each([
    ['broken JSON', 'application/json', '{"email": ', 400, 'INVALID_REQUEST'],
    ['an empty body', 'application/json', '', 400, 'INVALID_REQUEST'],
    [
      'a prototype in the body',
      'application/json',
      '{"__proto__": {"role": "admin"}}',
      400,
      'INVALID_REQUEST',
    ],
    ['a form', 'application/x-www-form-urlencoded', 'email=a', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['text', 'text/plain', 'hello', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      '2 MB of JSON',
      'application/json',
      JSON.stringify({ email: 'x'.repeat(2e6) }),
      413,
      'PAYLOAD_TOO_LARGE',
    ],
    ['a wrong type', 'application/json', '{"email": 1, "password": "x"}', 400, 'VALIDATION_ERROR'],
    ['a list for a body', 'application/json', '[]', 400, 'VALIDATION_ERROR'],
  ])('[HTTP4] %s', async (_what, contentType, body, status, code) => {
    const response = await fetch(`${server.url}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': contentType },
      body,
    })
    expect(response.status).toBe(status)
    expect(await failureOf(response)).toMatchObject({ code })
  })

  it('[HTTP3] names every faulty parameter, unknown ones too', async () => {
    const response = await fetch(`${server.url}/api/auth/sign-up/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: '', email: 'nobody', password: 'short', role: 'admin' }),
    })
    const error = await failureOf(response)
    expect(error.code).toBe('VALIDATION_ERROR')
    expect(error.details?.issues?.map(({ field }) => field).sort()).toEqual([
      'email',
      'name',
      'password',
      'role',
    ])
    expect(error.details?.field).toBe(error.details?.issues?.[0]?.field)
  })

  it('[HTTP4] a URL that cannot be decoded is 400', async () => {
    const response = await fetch(`${server.url}/api/workspaces/%E0%A4%A`)
    expect(response.status).toBe(400)
    expect(await failureOf(response)).toMatchObject({ code: 'INVALID_REQUEST' })
  })

  it('[HTTP10] a Host that is not a loopback name is refused', async () => {
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest(`${server.url}/api/health/live`, { headers: { host: 'rebound.example' } })
      request.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject)
      request.end()
    })
    expect(status).toBe(400)
  })

  it('[HTTP10] a page of another origin cannot sign anybody in', async () => {
    const response = await fetch(`${server.url}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'https://evil.example' },
      body: JSON.stringify({ email: 'a@example.com', password: 'x' }),
    })
    expect(response.status).toBe(403)
  })

  it('[HTTP2] an inbound request id is not believed', async () => {
    const response = await fetch(`${server.url}/api/health/live`, {
      headers: { 'x-request-id': 'req_12345678' },
    })
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/)
  })
})

describe('bytes that are no request', () => {
  /** Sends bytes as they are and reads the answer to the end of the connection. */
  async function exchange(bytes: string): Promise<{ head: string; body: string }> {
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    socket.write(bytes)
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    return { head, body }
  }

  it.each([
    [
      'headers of 64 KB',
      `GET /api/health HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${'x'.repeat(65_536)}\r\n\r\n`,
      431,
      'PAYLOAD_TOO_LARGE',
    ],
    ['what is no HTTP', 'hello\r\n\r\n', 400, 'INVALID_REQUEST'],
    [
      'two lengths of one body',
      'POST /api/auth/sign-in/email HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      400,
      'INVALID_REQUEST',
    ],
    [
      'a body with two ways to end',
      'POST /api/auth/sign-in/email HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
      400,
      'INVALID_REQUEST',
    ],
  ])('[HTTP15] %s', async (_what, bytes, status, code) => {
    const { head, body } = await exchange(bytes)
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(head).toMatch(/^ratelimit: "standard";r=\d+;t=\d+$/m)
    const { error, requestId } = FailureEnvelope.parse(JSON.parse(body))
    expect(error.code).toBe(code)
    expect(head).toContain(`x-request-id: ${requestId}`)
    expect((await fetch(`${server.url}/api/health/live`)).status).toBe(200)
  })

  it('[HTTP15] after which an answer is still under way end the connection, and nothing is written into the answer', async () => {
    const { headers } = await signUpPerson(server.url)
    const api = createClient({ baseUrl: server.url, headers })
    const { id } = await api.call(createWorkspace, { body: { name: 'Listened to' } })
    const path = watchFiles.path.replace(':workspaceId', id)
    const { host, hostname, port } = new URL(server.url)
    const lines = Object.entries({ ...headers, host }).map(([name, value]) => `${name}: ${value}\r\n`)
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.on('data', (part) => {
      received += String(part)
    })
    const ended = new Promise((resolve) => socket.on('error', resolve).once('close', resolve))
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
    await expect.poll(() => received).toContain('data: ')
    socket.write('hello\r\n\r\n')
    await ended
    expect(received).toMatch(/^HTTP\/1\.1 200 /)
    expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1)
  })
})

describe('streams', () => {
  it('[HTTP18] a user has 100 open, and one more is 429 until another closes', async () => {
    const clientOf = async () =>
      createClient({ baseUrl: server.url, headers: (await signUpPerson(server.url)).headers })
    const [api, other] = await Promise.all([clientOf(), clientOf()])
    const leaving = new AbortController()
    const first = new AbortController()
    const place = async (by: Client) => (await by.call(createWorkspace, { body: { name: 'Listened to' } })).id
    const listen = (by: Client, workspaceId: string, { signal }: AbortController) =>
      by.stream(watchFiles, { params: { workspaceId } }, { signal }).then(
        () => 200,
        ({ status }: { status: number }) => status,
      )
    const [last, foreign] = await Promise.all([place(api), place(other)])
    expect(await listen(api, last, first)).toBe(200)
    for (const times of [20, 20, 20, 20, 19]) {
      const workspaceId = await place(api)
      await Promise.all(Array.from({ length: times }, () => listen(api, workspaceId, leaving)))
    }
    expect(await listen(api, last, leaving)).toBe(429)
    expect(await listen(other, foreign, leaving)).toBe(200)
    first.abort()
    await expect.poll(() => listen(api, last, leaving)).toBe(200)
    leaving.abort()
  })

  it('[HTTP16] end when the session or the API key behind them ends, and no other', async () => {
    await using providers = await startMockProviders()
    await using own = await startTestServer({ environment: providers.environment })
    providers.fail({ kind: 'stall', after: 1 })
    const ask = (headers: Record<string, string>) =>
      fetch(`${own.url}/api/chat/stream`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'gpt-6-luna', message: 'Wait for me' }),
      })
    const person = await signUpPerson(own.url)
    const other = await person.signInAgain()
    const key = await person.apiKey()
    const [bySession, byKey, stays] = await Promise.all([
      ask(person.headers),
      ask({ 'x-api-key': key }),
      ask(other.headers),
    ])
    expect([bySession, byKey, stays].map(({ status }) => status)).toEqual([200, 200, 200])

    const keys = await fetch(own.url + listApiKeys.path, { headers: other.headers })
    const [{ id }] = ((await keys.json()) as { data: { items: [{ id: string }] } }).data.items
    await fetch(own.url + deleteApiKey.path.replace(':apiKeyId', id), {
      method: 'DELETE',
      headers: other.headers,
    })
    await fetch(own.url + signOut.path, { method: 'POST', headers: person.headers })

    for (const response of [bySession, byKey]) {
      const lastEvents: string[] = []
      await response.body
        ?.pipeThrough(new TextDecoderStream())
        .pipeTo(new WritableStream({ write: (part) => void lastEvents.push(part) }))
        // It is cut after its last event.
        .catch(() => undefined)
      expect(lastEvents.join('')).toContain('"code":"UNAUTHORIZED"')
    }
    providers.heal()
    expect(await stays.text()).not.toContain('UNAUTHORIZED')
  }, 90_000)
})

describe('limits', () => {
  it('[HTTP6, HTTP7] of 130 parallel requests, exactly 100 pass; unknown paths count as well', async () => {
    await using limited = await startTestServer({ environment: { RATE_LIMIT_STANDARD: '100' } })
    const statuses = await Promise.all(
      Array.from({ length: 130 }, async (_, index) => {
        const response = await fetch(`${limited.url}/api/${index % 2 ? 'auth/get-session' : 'unknown'}`)
        if (response.status === 429) {
          expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
          expect(await failureOf(response)).toMatchObject({ code: 'RATE_LIMITED' })
        }
        return response.status
      }),
    )
    expect(statuses.filter((status) => status !== 429)).toHaveLength(100)
    expect((await fetch(`${limited.url}/api/health/live`)).status).toBe(200)
  })

  it('[HTTP6] a forwarded address is not believed', async () => {
    await using limited = await startTestServer({ environment: { RATE_LIMIT_STANDARD: '3' } })
    const statuses: number[] = []
    for (let index = 0; index < 5; index += 1) {
      const response = await fetch(`${limited.url}/api/auth/get-session`, {
        headers: { 'x-forwarded-for': `203.0.113.${index}` },
      })
      statuses.push(response.status)
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429])
  })
})

describe('health', () => {
  it.each([
    ['/api/health', { status: 'healthy', database: 'connected' }],
    ['/api/health/ready', { status: 'healthy', database: 'connected' }],
    ['/api/health/live', { status: 'healthy' }],
    ['/api/health/simple', { status: 'healthy' }],
  ])('[HEALTH2, HEALTH3] %s', async (path, expected) => {
    const response = await fetch(server.url + path)
    expect(response.status).toBe(200)
    const { data } = (await response.json()) as { data: { uptime?: number } }
    expect(data).toMatchObject(expected)
    if (path !== '/api/health/simple') expect(data.uptime).toBeGreaterThan(0)
  })
})
