import { createSocketTicket, getJwks, getSession, getToken, signIn, signOut, signUp } from '@atelier/contract'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../base/app-error.ts'
import { limitAddress } from '../../platform/http/caller-address.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { type Call, mount, mountRaw } from '../../platform/http/mount.ts'
import type { SocketTickets } from '../../platform/http/socket-tickets.ts'
import { readSessionCookie } from '../../platform/identity/credentials.ts'
import type { Caller } from './accounts.ts'
import type { Identity } from './identity.ts'

/** Characters of `User-Agent` that are kept. */
const maxUserAgentLength = 300

/** Seconds that others may keep our public keys: far less than a key verifies after it stopped signing. */
const jwksMaxAgeSeconds = 300

export function mountAuthRoutes({
  http,
  identity,
  tickets,
}: {
  http: HttpServer
  identity: Identity
  tickets: SocketTickets
}): void {
  const { accounts, tokens, cookie, onSecurityEvent } = identity

  mount(http, signUp, async (call) => {
    const { result, setCookies } = await retryLater(call, () =>
      accounts.signUp(call.body, callerOf(call.request)),
    )
    setSecretHeaders(call, setCookies)
    return { user: result }
  })

  mount(http, signIn, async (call) => {
    const { result, setCookies } = await retryLater(call, () =>
      accounts.signIn(call.body, callerOf(call.request)),
    )
    setSecretHeaders(call, setCookies)
    return { user: result }
  })

  mount(http, signOut, async (call) => {
    const value = readSessionCookie(call.request.raw, cookie)
    // The endpoint is public, so the server has not asked for an Origin; the cookie makes it needed.
    if (value !== null) {
      http.origins.checkOrigin(call.request.headers, { required: true })
      setSecretHeaders(call, await accounts.signOut(value))
    }
    return { success: true }
  })

  mount(http, getSession, async (call) => {
    const value = readSessionCookie(call.request.raw, cookie)
    setSecretHeaders(call, [])
    if (value === null) return null
    const { result, setCookies } = await accounts.session(value)
    setSecretHeaders(call, setCookies)
    return result
  })

  mount(http, getToken, async (call) => {
    const { principal } = call
    if (principal.kind !== 'cookie')
      throw new AppError('FORBIDDEN', 'Only the signed-in browser session can do this')
    const { userId, sessionId } = principal
    const { token, expiresAt } = await tokens.issue({ userId, sessionId })
    onSecurityEvent({ type: 'token-issued', userId, sessionId })
    setSecretHeaders(call, [])
    return { token, expiresAt: expiresAt.toISOString() }
  })

  mount(http, createSocketTicket, (call) => {
    const { ticket, expiresAt } = tickets.issue(call.principal)
    setSecretHeaders(call, [])
    return { ticket, expiresAt: expiresAt.toISOString() }
  })

  mountRaw(http, getJwks, async (_call, reply) => {
    reply
      .header('content-type', 'application/json; charset=utf-8')
      .header('cache-control', `public, max-age=${jwksMaxAgeSeconds}`)
      .send(JSON.stringify({ keys: await tokens.publicKeys() }))
  })
}

/** What tells who somebody is must not stay in a cache. */
function setSecretHeaders(call: Pick<Call<typeof signUp>, 'setHeader'>, setCookies: string[]): void {
  call.setHeader('cache-control', 'no-store')
  if (setCookies.length > 0) call.setHeader('set-cookie', setCookies)
}

/** Says when to come back in the header that clients look at. */
async function retryLater<Result>(
  call: Pick<Call<typeof signUp>, 'setHeader'>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const seconds = error instanceof AppError ? error.details?.retryAfterSeconds : undefined
    if (typeof seconds === 'number') call.setHeader('retry-after', String(seconds))
    throw error
  }
}

function callerOf(request: FastifyRequest): Caller {
  return {
    address: request.ip,
    limitAddress: limitAddress(request.ip),
    userAgent: (request.headers['user-agent'] ?? '').slice(0, maxUserAgentLength),
  }
}
