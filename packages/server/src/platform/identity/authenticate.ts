import type { IncomingMessage } from 'node:http'
import type { Scope } from '@atelier/contract'
import type { AccessTokens } from './access-tokens.ts'
import { readApiKey, sameHash } from './api-key-format.ts'
import { badCredential, type Credential, readCredentials } from './credentials.ts'
import type { Principal } from './principal.ts'
import type { Identified, PrincipalCache } from './principal-cache.ts'
import type { CredentialRefused, OnSecurityEvent } from './security-event.ts'
import type { SessionCookie } from './session-cookie.ts'

/** A session that has not ended, of a user who is not banned. */
export interface LiveSession {
  sessionId: string
  userId: string
  admin: boolean
  /** absolute or idle end, whichever comes first; milliseconds since the epoch */
  expiresAt: number
  lastActiveAt: number
}

/** Looks sessions up. `null`: it ended, or its user is banned. */
export interface LiveSessions {
  byToken(token: string): Promise<LiveSession | null>
  byId(sessionId: string): Promise<LiveSession | null>
  /** Notes that the session was used; at most one write a minute. */
  used(session: LiveSession): Promise<void>
}

export interface StoredApiKey {
  apiKeyId: string
  userId: string
  hash: Buffer
  scopes: readonly Scope[]
  workspaceIds: readonly string[] | null
  /** milliseconds since the epoch */
  expiresAt: number
  lastUsedAt: number | null
  /** `banned` is its user */
  state: 'live' | 'expired' | 'revoked' | 'banned'
}

/** Looks API keys up. */
export interface ApiKeyLookup {
  byPublicId(publicId: string): Promise<StoredApiKey | null>
  /** Notes that a key was used; at most one write a minute. */
  used(apiKey: StoredApiKey): Promise<void>
}

export interface AuthenticateOptions {
  cookie: SessionCookie
  tokens: AccessTokens
  sessions: LiveSessions
  apiKeys: ApiKeyLookup
  cache: PrincipalCache
  onSecurityEvent: OnSecurityEvent
}

/**
 * Finds out who makes a request: session cookie, `Authorization: Bearer <JWT>`, `x-api-key`. `null` without a
 * credential. Throws UNAUTHORIZED when any credential is malformed, repeated, unknown or ended, or two of them name
 * different users; SERVICE_UNAVAILABLE when the database does not answer. Of several credentials of one user the one
 * that may do least counts.
 */
export function createAuthenticate(
  options: AuthenticateOptions,
): (raw: IncomingMessage) => Promise<Principal | null> {
  const { cookie, cache, onSecurityEvent } = options
  const identify = createIdentifiers(options)

  return async function authenticate(raw) {
    const credentials = readCredentials(raw, cookie)
    const address = raw.socket.remoteAddress ?? 'unknown'
    const principals: Principal[] = []
    for (const credential of credentials) {
      principals.push(await cache.resolve(credential, () => identify[credential.kind](credential, address)))
    }
    const [first] = principals
    const other = principals.find(({ userId }) => userId !== first?.userId)
    if (first && other) {
      const { kind, userId } = first
      onSecurityEvent({
        type: 'credential-refused',
        credential: kind,
        reason: 'different-principals',
        userId,
        address,
      })
      throw badCredential('The credentials of this request name different users')
    }
    return leastOf(principals)
  }
}

type Identify = (credential: Credential, address: string) => Promise<Identified>

function createIdentifiers(options: AuthenticateOptions): Record<Credential['kind'], Identify> {
  const { cookie, tokens, sessions, apiKeys, onSecurityEvent } = options

  function refuse(refused: Omit<CredentialRefused, 'type'>): never {
    onSecurityEvent({ type: 'credential-refused', ...refused })
    throw badCredential(refusals[refused.credential])
  }

  return {
    async cookie({ text }, address) {
      const token = cookie.tokenOf(text)
      if (token === null) return refuse({ credential: 'cookie', reason: 'unknown', address })
      const session = await sessions.byToken(token)
      if (!session) return refuse({ credential: 'cookie', reason: 'session-ended', address })
      await sessions.used(session)
      return signedIn('cookie', session, session.expiresAt)
    },

    async token({ text }, address) {
      const claims = await tokens.verify(text)
      if (!claims) return refuse({ credential: 'token', reason: 'unknown', address })
      const session = await sessions.byId(claims.sessionId)
      if (session?.userId !== claims.userId) {
        return refuse({ credential: 'token', reason: 'session-ended', userId: claims.userId, address })
      }
      await sessions.used(session)
      return signedIn('token', session, Math.min(session.expiresAt, claims.expiresAt))
    },

    async 'api-key'({ text }, address) {
      const presented = readApiKey(text)
      if (!presented) return refuse({ credential: 'api-key', reason: 'unknown', address })
      const stored = await apiKeys.byPublicId(presented.publicId)
      if (!stored || !sameHash(stored.hash, presented.hash)) {
        return refuse({ credential: 'api-key', reason: 'unknown', address })
      }
      const { apiKeyId, userId, scopes, workspaceIds, expiresAt, state } = stored
      if (state !== 'live') {
        const reason = state === 'banned' ? state : (`key-${state}` as const)
        return refuse({ credential: 'api-key', reason, userId, address })
      }
      await apiKeys.used(stored)
      return {
        principal: { kind: 'api-key', userId, admin: false, apiKeyId, scopes, workspaceIds },
        expiresAt,
      }
    },
  }
}

const refusals: Record<Credential['kind'], string> = {
  cookie: 'The session has ended; sign in again',
  token: 'The token is not valid or has ended; get a new one',
  'api-key': 'The API key is not valid',
}

function signedIn(kind: 'cookie' | 'token', session: LiveSession, expiresAt: number): Identified {
  const { userId, sessionId, admin } = session
  return { principal: { kind, userId, sessionId, admin }, expiresAt }
}

/** An API key is bound by its scopes and a token cannot make tokens; the cookie may do all. */
const power: Record<Principal['kind'], number> = { 'api-key': 0, token: 1, cookie: 2 }

function leastOf(principals: readonly Principal[]): Principal | null {
  return principals.reduce<Principal | null>(
    (least, principal) => (least && power[least.kind] <= power[principal.kind] ? least : principal),
    null,
  )
}
