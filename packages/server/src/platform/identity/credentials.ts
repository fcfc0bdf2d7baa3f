import type { IncomingMessage } from 'node:http'
import { AppError } from '../../base/app-error.ts'
import type { SessionCookie } from './session-cookie.ts'

/** What a request presents, still unchecked. */
export interface Credential {
  kind: 'cookie' | 'token' | 'api-key'
  text: string
}

/** Longest credential that is looked at, in characters: a token of ours has about 500. */
const maxLength = 4_096

/** RFC 6750: the scheme in any case, one space, then (here) exactly a compact JWS. */
const bearerPattern = /^bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i

const bearerKeyPattern = /^bearer (atl_\S+)$/i

/**
 * Collects every credential of a request. Throws UNAUTHORIZED when one is malformed or a header that carries one is
 * repeated: which of the two counts would differ between us and a proxy before us.
 */
export function readCredentials(raw: IncomingMessage, cookie: SessionCookie): Credential[] {
  const { authorization, apiKey, cookieHeader } = credentialHeaders(raw.rawHeaders)
  const found: Credential[] = []
  if (authorization !== undefined) found.push(authorizationOf(authorization, raw.url ?? ''))
  if (apiKey !== undefined) found.push({ kind: 'api-key', text: bounded(apiKey) })
  const value = sessionValueOf(cookieHeader, cookie)
  if (value !== null) found.push({ kind: 'cookie', text: value })
  return found
}

/** The value of the session cookie alone, for endpoints that are about it. `null` without one. Throws as above. */
export function readSessionCookie(raw: IncomingMessage, cookie: SessionCookie): string | null {
  return sessionValueOf(credentialHeaders(raw.rawHeaders).cookieHeader, cookie)
}

function sessionValueOf(header: string | undefined, cookie: SessionCookie): string | null {
  const [value, ...more] = header === undefined ? [] : cookie.valuesIn(header)
  if (more.length > 0) throw badCredential('More than one session cookie')
  return value === undefined ? null : bounded(value)
}

/** The 401 for a credential that does not hold: it says which one, not why. */
export function badCredential(message: string): AppError {
  return new AppError('UNAUTHORIZED', message)
}

interface CredentialHeaders {
  authorization?: string
  apiKey?: string
  cookieHeader?: string
}

const headerNames: Readonly<Record<string, keyof CredentialHeaders>> = {
  authorization: 'authorization',
  'x-api-key': 'apiKey',
  cookie: 'cookieHeader',
}

/** Read from the raw list: Node's own view joins or drops repeated headers without a trace. */
function credentialHeaders(rawHeaders: readonly string[]): CredentialHeaders {
  const headers: CredentialHeaders = {}
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase()
    if (!Object.hasOwn(headerNames, name)) continue
    const field = headerNames[name] as keyof CredentialHeaders
    if (headers[field] !== undefined) throw badCredential(`The header ${name} is repeated`)
    headers[field] = rawHeaders[index + 1] as string
  }
  return headers
}

/** Clients of OpenAI's dialect can send an API key as a Bearer token only. */
function authorizationOf(header: string, url: string): Credential {
  const key =
    url.startsWith('/v1/') && header.length <= maxLength ? bearerKeyPattern.exec(header)?.[1] : undefined
  return key === undefined ? { kind: 'token', text: bearerTokenOf(header) } : { kind: 'api-key', text: key }
}

function bearerTokenOf(header: string): string {
  const token = header.length <= maxLength ? bearerPattern.exec(header)?.[1] : undefined
  if (token === undefined) throw badCredential('Authorization must be `Bearer` and a token of this server')
  return token
}

function bounded(text: string): string {
  if (text.length > maxLength) throw badCredential('The credential is too long')
  return text
}
