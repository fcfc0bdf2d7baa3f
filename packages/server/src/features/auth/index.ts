import type { HttpServer } from '../../platform/http/http-server.ts'
import type { SocketTickets } from '../../platform/http/socket-tickets.ts'
import { mountApiKeyRoutes } from './api-key-routes.ts'
import { mountAuthRoutes } from './auth-routes.ts'
import type { Identity } from './identity.ts'

export { maxApiKeysPerUser } from './api-key-store.ts'
export { createIdentity, type Identity, type IdentityOptions } from './identity.ts'
export { maxFailuresByAccount, maxFailuresByAddress } from './sign-in-guard.ts'
export type { UserDirectory } from './user-store.ts'

/**
 * Mounts sign-up, sign-in, sign-out, sessions, tokens and API keys: what the contract lists and nothing else of what
 * the sign-in library could serve.
 */
export function authFeature({
  http,
  identity,
  tickets,
}: {
  http: HttpServer
  identity: Identity
  tickets: SocketTickets
}): void {
  mountAuthRoutes({ http, identity, tickets })
  mountApiKeyRoutes({ http, apiKeys: identity.apiKeys })
}
