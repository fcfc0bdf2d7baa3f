import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../platform/db/database.ts'
import { type AccessTokens, createAccessTokens } from '../../platform/identity/access-tokens.ts'
import { createAuthenticate } from '../../platform/identity/authenticate.ts'
import type { Principal } from '../../platform/identity/principal.ts'
import { createPrincipalCache } from '../../platform/identity/principal-cache.ts'
import { logSecurityEvents, type OnSecurityEvent } from '../../platform/identity/security-event.ts'
import { createSessionCookie, type SessionCookie } from '../../platform/identity/session-cookie.ts'
import { createSigningKeys } from '../../platform/identity/signing-keys.ts'
import { type Accounts, createAccounts } from './accounts.ts'
import { createApiKeyStore } from './api-key-store.ts'
import { type ApiKeys, createApiKeys } from './api-keys.ts'
import { createAuthLibrary } from './auth-library.ts'
import { createHashGate } from './hash-gate.ts'
import { createSessionStore } from './session-store.ts'
import { createSignInGuard } from './sign-in-guard.ts'
import { createSigningKeyStore } from './signing-key-store.ts'
import { createUserStore, type UserDirectory } from './user-store.ts'

/** Who people are, and how they prove it. The parts share one memory of credentials, so there is one a process. */
export interface Identity {
  /** for the HTTP server and the sockets */
  authenticate(raw: IncomingMessage): Promise<Principal | null>
  /** Whether the credential behind something long-lived still holds. Always looks; does not count as activity. */
  stillValid(principal: Principal): Promise<boolean>
  /** for features that name people */
  readonly users: UserDirectory
  readonly accounts: Accounts
  readonly apiKeys: ApiKeys
  readonly tokens: AccessTokens
  readonly cookie: SessionCookie
  readonly onSecurityEvent: OnSecurityEvent
}

export interface IdentityOptions {
  database: Database
  /** see `loadInstallationSecret` */
  secret: string
  /** where people reach this server; its scheme decides about `Secure` cookies */
  baseUrl: string | undefined
  clock: Clock
  logger: Logger
  /** the log where absent */
  onSecurityEvent?: OnSecurityEvent
}

export function createIdentity(options: IdentityOptions): Identity {
  const { database, secret, baseUrl, clock, logger } = options
  const onSecurityEvent = options.onSecurityEvent ?? logSecurityEvents(logger)
  const cookie = createSessionCookie({ secret, secure: baseUrl?.startsWith('https:') ?? false })
  const cache = createPrincipalCache({ clock })
  const users = createUserStore({ database })
  const sessions = createSessionStore({ database, clock })
  const apiKeyStore = createApiKeyStore({ database, clock })
  const keys = createSigningKeys({ store: createSigningKeyStore({ database }), secret, clock })
  const tokens = createAccessTokens({ keys, issuer: baseUrl ?? localIssuer, clock })
  const hashGate = createHashGate()
  const library = createAuthLibrary({ database, secret, cookie, hashGate, clock, logger })
  const guard = createSignInGuard({ clock })
  return {
    authenticate: createAuthenticate({
      cookie,
      tokens,
      sessions,
      apiKeys: apiKeyStore,
      cache,
      onSecurityEvent,
    }),
    async stillValid(principal) {
      if (principal.kind !== 'api-key') return (await sessions.byId(principal.sessionId)) !== null
      return (await apiKeyStore.byId(principal.apiKeyId))?.state === 'live'
    },
    users,
    accounts: createAccounts({
      library,
      cookie,
      users,
      sessions,
      guard,
      hashGate,
      cache,
      clock,
      onSecurityEvent,
    }),
    apiKeys: createApiKeys({ store: apiKeyStore, cache, clock, onSecurityEvent }),
    tokens,
    cookie,
    onSecurityEvent,
  }
}

/** `iss` and `aud` of a server without a base URL. Its keys tell it from others. */
const localIssuer = 'urn:atelier'
