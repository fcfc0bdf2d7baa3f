import { z } from 'zod'
import type { Access, EndpointShape } from './endpoint.ts'
import { FailureEnvelope, successEnvelope } from './envelope.ts'
import { errorStatus } from './errors.ts'

type JsonObject = Record<string, unknown>

/** Describes endpoints as an OpenAPI 3.1 document, whose schemas are JSON Schema 2020-12 as zod writes it. */
export function openApiDocument(
  endpoints: readonly EndpointShape[],
  service: { title: string; version: string; description: string },
): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:([A-Za-z]+)/g, '{$1}')
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint) }
  }
  return {
    openapi: '3.1.0',
    info: service,
    servers: [{ url: '/' }],
    tags: [...new Set(endpoints.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { Failure: schemaOf(FailureEnvelope, 'output') },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        session: { type: 'apiKey', in: 'cookie', name: 'atelier.session_token' },
      },
    },
  }
}

function operation(endpoint: EndpointShape): JsonObject {
  const body = requestBody(endpoint)
  return {
    operationId: endpoint.name,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: description(endpoint),
    security: security(endpoint.access),
    parameters: [...parameters(endpoint.params, 'path'), ...parameters(endpoint.query, 'query')],
    ...(body ? { requestBody: body } : {}),
    responses: responses(endpoint),
    'x-rate-class': endpoint.rate,
  }
}

function description({ access, scope, rate }: EndpointShape): string {
  const caller: Record<Access, string> = {
    public: 'Anybody may call this.',
    user: `Any credential will do${scope === 'any' ? '' : `; an API key needs the scope \`${scope}\``}.`,
    session: 'For a signed-in person: a cookie or a Bearer token, never an API key.',
    cookie: 'For the signed-in browser session itself.',
    admin: 'For administrators, signed in.',
  }
  return `${caller[access]} Rate class: \`${rate}\`.`
}

function security(access: Access): JsonObject[] {
  if (access === 'public') return []
  const session = [{ session: [] }]
  if (access === 'cookie') return session
  const person = [{ bearer: [] }, ...session]
  return access === 'user' ? [...person, { apiKey: [] }] : person
}

function parameters(schema: z.ZodType | undefined, place: 'path' | 'query'): JsonObject[] {
  if (!schema) return []
  const object = schemaOf(schema, 'input')
  const required = new Set((object.required as string[] | undefined) ?? [])
  return Object.entries((object.properties ?? {}) as Record<string, JsonObject>).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.has(name),
    schema: property,
  }))
}

function requestBody({ body, multipart }: EndpointShape): JsonObject | undefined {
  if (!body && !multipart) return undefined
  const content = {
    ...(body && { 'application/json': { schema: schemaOf(body, 'input') } }),
    ...(multipart && { 'multipart/form-data': { schema: formSchema(multipart) } }),
  }
  return { required: true, content }
}

function formSchema(multipart: z.ZodType): JsonObject {
  const form = schemaOf(multipart, 'input')
  const files = { type: 'array', items: { type: 'string', format: 'binary' }, minItems: 1 }
  return {
    ...form,
    properties: { ...(form.properties as JsonObject), files },
    required: [...((form.required as string[] | undefined) ?? []), 'files'],
  }
}

function responses(endpoint: EndpointShape): JsonObject {
  const failure = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } } }
  const statuses = new Set<number>([400, 429, 500])
  if (endpoint.access !== 'public') for (const status of [401, 403]) statuses.add(status)
  if (endpoint.params) statuses.add(404)
  if (endpoint.body || endpoint.multipart) for (const status of [413, 415]) statuses.add(status)
  const failures = [...statuses]
    .sort()
    .map((status) => [String(status), { description: codesOf(status), ...failure }] as const)
  return {
    [String(endpoint.status ?? 200)]: { description: endpoint.message, content: answer(endpoint) },
    ...Object.fromEntries(failures),
  }
}

function answer({ data, events, produces }: EndpointShape): JsonObject {
  const described = {
    ...(data && { 'application/json': { schema: schemaOf(successEnvelope(data), 'output') } }),
    ...(events && { 'text/event-stream': { schema: schemaOf(events, 'output') } }),
  }
  return data || events ? described : { [produces ?? 'application/octet-stream']: {} }
}

function codesOf(status: number): string {
  return Object.entries(errorStatus)
    .filter(([, known]) => known === status)
    .map(([code]) => code)
    .join(', ')
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}
