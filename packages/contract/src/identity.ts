import { z } from 'zod'
import { endpoint, scopes } from './endpoint.ts'
import { ApiKeyId, UserId, WorkspaceId } from './ids.ts'

const tag = 'Identity'

export const User = z.object({
  id: UserId,
  name: z.string(),
  email: z.string(),
  role: z.enum(['admin', 'user']),
  createdAt: z.iso.datetime(),
})
export type User = z.infer<typeof User>

export const Session = z.object({ id: z.string(), expiresAt: z.iso.datetime() })

const Email = z.email('must be an e-mail address').max(254)

/** ASVS 6.2.9 asks for at least 64 allowed; 128 bounds the work of hashing. */
const NewPassword = z
  .string()
  .min(12, 'must have at least 12 characters')
  .max(128, 'must have at most 128 characters')

export const signUp = endpoint({
  name: 'signUp',
  method: 'POST',
  path: '/api/auth/sign-up/email',
  tag,
  summary: 'Create an account and sign in; the first account is the administrator',
  access: 'public',
  rate: 'standard',
  body: z.strictObject({
    name: z.string().trim().min(1, 'must not be empty').max(100),
    email: Email,
    password: NewPassword,
  }),
  data: z.object({ user: User }),
  message: 'Account created',
})

export const signIn = endpoint({
  name: 'signIn',
  method: 'POST',
  path: '/api/auth/sign-in/email',
  tag,
  summary: 'Sign in with e-mail and password; sets the session cookie',
  access: 'public',
  rate: 'standard',
  body: z.strictObject({ email: Email, password: z.string().min(1, 'must not be empty').max(128) }),
  data: z.object({ user: User }),
  message: 'Signed in',
})

export const signOut = endpoint({
  name: 'signOut',
  method: 'POST',
  path: '/api/auth/sign-out',
  tag,
  summary: 'End the session of the cookie',
  access: 'public',
  rate: 'standard',
  data: z.object({ success: z.boolean() }),
  message: 'Signed out',
})

export const getSession = endpoint({
  name: 'getSession',
  method: 'GET',
  path: '/api/auth/get-session',
  tag,
  summary: 'The session of the cookie, or null',
  access: 'public',
  rate: 'standard',
  data: z.object({ user: User, session: Session }).nullable(),
  message: 'Session read',
})

export const getToken = endpoint({
  name: 'getToken',
  method: 'GET',
  path: '/api/auth/token',
  tag,
  summary: 'A JWT for `Authorization: Bearer`, made from the signed-in cookie; valid for 10 minutes',
  access: 'cookie',
  rate: 'standard',
  data: z.object({ token: z.string(), expiresAt: z.iso.datetime() }),
  message: 'Token issued',
})

export const createSocketTicket = endpoint({
  name: 'createSocketTicket',
  method: 'POST',
  path: '/api/auth/socket-ticket',
  tag,
  summary: 'A ticket that opens one socket as the caller, for `?ticket=`; valid for 30 seconds',
  access: 'user',
  scope: 'sessions',
  rate: 'standard',
  data: z.object({ ticket: z.string(), expiresAt: z.iso.datetime() }),
  status: 201,
  message: 'Ticket issued',
})

export const getJwks = endpoint({
  name: 'getJwks',
  method: 'GET',
  path: '/api/auth/jwks',
  tag,
  summary: 'The public keys that verify our JWTs (RFC 7517)',
  access: 'public',
  rate: 'standard',
  produces: 'application/json',
  message: 'Keys read',
})

export const ApiKey = z.object({
  id: ApiKeyId,
  name: z.string(),
  /** the recognisable start, never enough to use */
  prefix: z.string(),
  scopes: z.array(z.enum(scopes)),
  workspaceIds: z.array(WorkspaceId).nullable().describe('null: every workspace of the user'),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
})
export type ApiKey = z.infer<typeof ApiKey>

export const createApiKey = endpoint({
  name: 'createApiKey',
  method: 'POST',
  path: '/api/auth/api-keys',
  tag,
  summary: 'Make an API key; its secret is shown in this answer only',
  access: 'session',
  rate: 'standard',
  body: z.strictObject({
    name: z.string().trim().min(1, 'must not be empty').max(100),
    scopes: z.array(z.enum(scopes)).min(1, 'must name at least one scope').max(scopes.length),
    workspaceIds: z.array(WorkspaceId).min(1).max(100).nullable().default(null),
    expiresInDays: z.number().int().min(1).max(365).default(90),
  }),
  data: z.object({ key: z.string().describe('the key itself, shown once'), apiKey: ApiKey }),
  status: 201,
  message: 'API key created; store it now, it is not shown again',
})

export const listApiKeys = endpoint({
  name: 'listApiKeys',
  method: 'GET',
  path: '/api/auth/api-keys',
  tag,
  summary: 'The API keys of the caller, without their secrets',
  access: 'session',
  rate: 'standard',
  data: z.object({ items: z.array(ApiKey), nextCursor: z.null() }),
  message: 'API keys listed',
})

export const deleteApiKey = endpoint({
  name: 'deleteApiKey',
  method: 'DELETE',
  path: '/api/auth/api-keys/:apiKeyId',
  tag,
  summary: 'Revoke an API key at once',
  access: 'session',
  rate: 'standard',
  params: z.strictObject({ apiKeyId: ApiKeyId }),
  data: z.object({ id: ApiKeyId }),
  message: 'API key revoked',
})
