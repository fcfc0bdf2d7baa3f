import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  chatEnhanced,
  createWorkspace,
  deleteApiKey,
  getOpenApi,
  importIntoWorkspace,
  listWorkspaces,
  renameWorkspace,
} from '@atelier/contract'
import { afterEach, describe, expect, test } from 'vitest'
import { ApiError } from './api-error.ts'
import { type ClientOptions, createClient } from './client.ts'

let server: Server | undefined

afterEach(async () => {
  const closing = server
  server = undefined
  closing?.closeAllConnections()
  if (closing !== undefined) await new Promise((resolve) => closing.close(resolve))
})

/** A client of a real HTTP server that answers with `listener`. */
async function clientOf(listener: RequestListener, options: Partial<ClientOptions> = {}) {
  const started = createServer(listener)
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  const { port } = started.address() as AddressInfo
  return createClient({ baseUrl: `http://127.0.0.1:${port}`, ...options })
}

const workspace = {
  id: 'ws_01JD8XQ4ZK3V5N6P7R8S9T0ABC',
  name: 'A',
  role: 'owner',
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
}
const envelope = (data: unknown) =>
  JSON.stringify({ success: true, data, message: 'm', timestamp: 't', requestId: 'r' })

async function textOf(request: IncomingMessage): Promise<string> {
  return (await Array.fromAsync(request)).join('')
}

async function failureOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(ApiError)
  return error as ApiError
}

describe('calls', () => {
  test('[CLIENT1] fills and encodes the path, writes the query, sends JSON, returns the data', async () => {
    const seen: string[] = []
    const client = await clientOf(
      async (request, response) => {
        seen.push(`${request.method} ${request.url} ${request.headers['x-api-key']} ${await textOf(request)}`)
        response.end(envelope(workspace))
      },
      { headers: () => ({ 'x-api-key': 'k' }) },
    )
    expect(
      await client.call(renameWorkspace, { params: { workspaceId: 'a/b ?' }, body: { name: 'Ä' } }),
    ).toEqual(workspace)
    await client.call(listWorkspaces, { query: { limit: 5, cursor: 'a&b' } })
    await client.call(listWorkspaces)
    expect(seen).toEqual([
      'PATCH /api/workspaces/a%2Fb%20%3F k {"name":"Ä"}',
      'GET /api/workspaces?limit=5&cursor=a%26b k ',
      'GET /api/workspaces k ',
    ])
  })

  test('[CLIENT1] sends a form with its files', async () => {
    let body = ''
    const client = await clientOf(async (request, response) => {
      body = `${request.headers['content-type']} ${await textOf(request)}`
      response.end(envelope({ job: {} }))
    })
    const form = new FormData()
    form.append('files', new Blob(['let a'], { type: 'text/plain' }), 'src/a.ts')
    await client.call(importIntoWorkspace, { params: { workspaceId: workspace.id }, form })
    expect(body).toMatch(/^multipart\/form-data; boundary=.*filename="src\/a.ts".*let a/s)
  })

  test('[CLIENT1] refuses an empty path parameter before anything is sent', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1' })
    await expect(client.call(deleteApiKey, { params: { apiKeyId: '' } })).rejects.toThrow(TypeError)
  })

  test('[CLIENT4] throws the code, the issues, the request id and the wait of a failure', async () => {
    const client = await clientOf((_request, response) => {
      response.writeHead(429, { 'retry-after': '7', 'x-request-id': 'req_other000' })
      const details = { field: 'name', issue: 'taken', issues: [{ field: 'name', issue: 'taken' }] }
      response.end(
        JSON.stringify({
          success: false,
          error: { code: 'RATE_LIMITED', message: 'Slower', details },
          timestamp: '2026-01-01T00:00:00Z',
          requestId: 'req_12345678',
        }),
      )
    })
    const error = await failureOf(client.call(createWorkspace, { body: { name: 'A' } }))
    expect(error).toMatchObject({
      code: 'RATE_LIMITED',
      status: 429,
      message: 'Slower',
      requestId: 'req_12345678',
      retryAfterSeconds: 7,
    })
    expect(error.issueOf('name')).toBe('taken')
    expect(error.issueOf('other')).toBeUndefined()
  })

  test('[CLIENT4] tells a proxy’s page from an answer of ours, and no answer from both', async () => {
    const client = await clientOf((request, response) => {
      if (request.method === 'GET') response.writeHead(502).end('<h1>Bad gateway</h1>')
      else request.socket.destroy()
    })
    expect(await failureOf(client.call(listWorkspaces))).toMatchObject({ code: 'BAD_ANSWER', status: 502 })
    expect(await failureOf(client.call(createWorkspace, { body: { name: 'A' } }))).toMatchObject({
      code: 'NETWORK_ERROR',
      status: 0,
    })
  })

  test('[CLIENT4] an aborted call rejects with the reason of its signal', async () => {
    const client = await clientOf(() => undefined)
    const reason = new Error('left the page')
    const call = client.call(listWorkspaces, {}, { signal: AbortSignal.abort(reason) })
    await expect(call).rejects.toBe(reason)
  })

  test('[CLIENT4] with validateAnswers an answer outside the contract is refused', async () => {
    const client = await clientOf((_request, response) => response.end(envelope({ id: 1 })), {
      validateAnswers: true,
    })
    const error = await failureOf(client.call(createWorkspace, { body: { name: 'A' } }))
    expect(error.code).toBe('BAD_ANSWER')
  })

  test('[CLIENT1] raw gives the bytes of an endpoint outside the envelope', async () => {
    const client = await clientOf((_request, response) => response.end('{"openapi":"3.1.0"}'))
    expect(await (await client.raw(getOpenApi)).json()).toEqual({ openapi: '3.1.0' })
  })
})

describe('streams', () => {
  const input = { body: { message: 'Hi', model: 'local' } }

  test('[CLIENT3] gives the headers at once and each event with its id', async () => {
    const client = await clientOf((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-model-used': 'local' })
      response.end('id: 1\ndata: {"content":"a"}\n\n: ping\n\nid: 2\ndata: {"done":true}\n\n')
    })
    const { headers, events } = await client.stream(chatEnhanced, input)
    expect(headers.get('x-model-used')).toBe('local')
    expect(await Array.fromAsync(events)).toEqual([
      { event: { content: 'a' }, lastEventId: '1' },
      { event: { done: true }, lastEventId: '2' },
    ])
  })

  test('[CLIENT3] what came before a cut is given, then the cut is an error', async () => {
    const client = await clientOf((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_12345678' })
      response.write('data: {"content":"kept"}\n\n', () => setImmediate(() => request.socket.destroy()))
    })
    const { events } = await client.stream(chatEnhanced, input)
    const kept: unknown[] = []
    const reading = (async () => {
      for await (const { event } of events) kept.push(event)
    })()
    expect(await failureOf(reading)).toMatchObject({ code: 'NETWORK_ERROR', requestId: 'req_12345678' })
    expect(kept).toEqual([{ content: 'kept' }])
  })

  test('[CLIENT3] an abort closes the connection and gives its reason', async () => {
    const closed = Promise.withResolvers<void>()
    const client = await clientOf((request, response) => {
      request.on('close', () => closed.resolve())
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"content":"a"}\n\n')
    })
    const controller = new AbortController()
    const { events } = await client.stream(chatEnhanced, input, { signal: controller.signal })
    const reason = new Error('stop')
    const reading = (async () => {
      for await (const _event of events) controller.abort(reason)
    })()
    await expect(reading).rejects.toBe(reason)
    await closed.promise
  })

  test('[CLIENT4] a refused stream throws as a call does', async () => {
    const client = await clientOf((_request, response) => response.end(envelope({})))
    expect(await failureOf(client.stream(chatEnhanced, input))).toMatchObject({ code: 'BAD_ANSWER' })
  })
})
