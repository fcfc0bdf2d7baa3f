import type { z } from 'zod'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Who may call:
 * - `public`: anybody, without a credential
 * - `user`: any credential; an API key also needs the endpoint's `scope`
 * - `session`: a signed-in person (cookie or JWT); API keys are refused
 * - `cookie`: the browser session itself, not a token made from it
 * - `admin`: an administrator, signed in as for `session`
 */
export type Access = 'public' | 'user' | 'session' | 'cookie' | 'admin'

/** What an API key may be allowed to do. */
export const scopes = [
  'workspaces:read',
  'workspaces:write',
  'files:read',
  'files:write',
  'ai',
  'sessions',
] as const
export type Scope = (typeof scopes)[number]

/** Requests a minute of a class are named limits: section 8 of the specification, and two of our own. */
export const rateClasses = ['standard', 'ai', 'upload', 'probe', 'static'] as const
export type RateClass = (typeof rateClasses)[number]

export interface EndpointShape {
  /** operationId in OpenAPI and the name in logs */
  name: string
  method: Method
  /** Fastify style: `/api/workspaces/:workspaceId` */
  path: string
  tag: string
  summary: string
  access: Access
  /** required when `access` is `user`; `any`: every key will do */
  scope?: Scope | 'any'
  rate: RateClass
  params?: z.ZodType
  query?: z.ZodType
  /** JSON body */
  body?: z.ZodType
  /** fields of a multipart body beside its file parts, which are named `files`; with `body` too, the caller chooses */
  multipart?: z.ZodType
  /** largest body in bytes; the server's default for JSON where absent */
  maxBodyBytes?: number
  /** payload of the success envelope */
  data?: z.ZodType
  /** schema of one server-sent event's `data:`; the answer is then `text/event-stream` */
  events?: z.ZodType
  /** media type of an answer outside the envelope (bytes, documents) */
  produces?: string
  /** success status, 200 where absent */
  status?: 200 | 201 | 202
  /** message of the success envelope */
  message: string
}

/** Declares an endpoint: keeps the literal types, so that the server and the client are checked against it. */
export function endpoint<const Definition extends EndpointShape>(definition: Definition): Definition {
  if (definition.access === 'user' && definition.scope === undefined) {
    throw new TypeError(`endpoint ${definition.name}: access 'user' needs a scope`)
  }
  return definition
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined
type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined

/** What a handler receives after validation. */
export type Params<E extends EndpointShape> = Output<E['params']>
export type Query<E extends EndpointShape> = Output<E['query']>
/** `undefined` where the caller may send a form instead, and has. */
export type Body<E extends EndpointShape> =
  | Output<E['body']>
  | (E['multipart'] extends z.ZodType ? undefined : never)
export type Fields<E extends EndpointShape> = Output<E['multipart']>
export type Data<E extends EndpointShape> = Output<E['data']>
export type StreamEvent<E extends EndpointShape> = Output<E['events']>

/** `z.coerce` takes anything; a caller gives what comes out of it. */
type Coerced<In, Out> = { [Name in keyof In]: unknown extends In[Name] ? Out[Name & keyof Out] : In[Name] }

type InputPart<Name extends string, Schema> = Schema extends z.ZodType
  ? Record<never, never> extends Input<Schema>
    ? { [N in Name]?: Coerced<Input<Schema>, Output<Schema>> }
    : { [N in Name]: Coerced<Input<Schema>, Output<Schema>> }
  : { [N in Name]?: never }

/** What a caller passes: only the parts the endpoint has; a part whose every member is optional may be left out. */
export type CallInput<E extends EndpointShape> = InputPart<'params', E['params']> &
  InputPart<'query', E['query']> &
  BodyInput<E>

type BodyInput<E extends EndpointShape> = E['multipart'] extends z.ZodType
  ? { form: FormData; body?: never } | JsonInput<E>
  : InputPart<'body', E['body']> & { form?: never }

type JsonInput<E extends EndpointShape> = E['body'] extends z.ZodType
  ? InputPart<'body', E['body']> & { form?: never }
  : never
