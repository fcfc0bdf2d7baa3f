import { type Client, createClient } from '@atelier/client'
import { createWorkspace, type EndpointShape, FailureEnvelope } from '@atelier/contract'
import type { Person } from '@atelier/testkit'

/** A workspace of a person, spoken to as a program would, and as a person with curl. */
export interface LiveWorkspace {
  readonly workspaceId: string
  readonly api: Client
  /** A request as it goes over the wire, about this workspace; the body is sent as JSON. */
  send(
    endpoint: Pick<EndpointShape, 'method' | 'path'>,
    parts: { query?: Record<string, string>; body?: object; headers?: Record<string, string> },
  ): Promise<Answer>
}

export interface Answer {
  status: number
  headers: Headers
  bytes: Buffer
  /** `data` of a success */
  data: Record<string, unknown>
  /** the error of a failure */
  error: { code: string; message: string; details?: Record<string, unknown> | undefined }
}

export async function openLiveWorkspace(url: string, person: Person): Promise<LiveWorkspace> {
  const api = createClient({ baseUrl: url, headers: person.headers, validateAnswers: true })
  const { id: workspaceId } = await api.call(createWorkspace, { body: { name: 'Live' } })
  return {
    workspaceId,
    api,
    async send({ method, path }, { query, body, headers }) {
      const isNamed = path.includes(':workspaceId') || body !== undefined
      const asked = new URLSearchParams({ ...(isNamed ? {} : { workspaceId }), ...query })
      const response = await fetch(`${url}${path.replace(':workspaceId', workspaceId)}?${asked}`, {
        method,
        headers: {
          ...person.headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify({ workspaceId, ...body }) }),
      })
      return await answerOf(response)
    },
  }
}

async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response
  const bytes = Buffer.from(await response.arrayBuffer())
  const isJson = headers.get('content-type')?.startsWith('application/json') === true
  const parsed: unknown = isJson && bytes.length > 0 ? JSON.parse(bytes.toString('utf8')) : {}
  const { data = {} } = parsed as { data?: Record<string, unknown> }
  const error = status >= 400 && isJson ? FailureEnvelope.parse(parsed).error : { code: '', message: '' }
  return { status, headers, bytes, data, error }
}
