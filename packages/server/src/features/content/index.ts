import { AppError } from '../../base/app-error.ts'
import { createCallerAddress } from '../../platform/http/caller-address.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { createRateLimiter } from '../../platform/http/rate-limiter.ts'
import type { Sockets } from '../../platform/http/sockets.ts'
import type { ContentNames } from '../../platform/proxied/content-names.ts'
import { createContentPasses } from '../../platform/proxied/content-pass.ts'
import {
  type ContentServer,
  createContentServer,
  type FindContent,
} from '../../platform/proxied/content-server.ts'
import type { Identity } from '../auth/index.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'
import { mountContentRoutes } from './content-routes.ts'

/** An unbundled development build is thousands of modules at each reload. */
export const contentRequestsPerMinute = 12_000

/**
 * Serves previews and editors under host names of their own: takes over every request and upgrade below the content
 * domain. Dispose it before the HTTP server, which waits for open connections.
 */
export function contentFeature(dependencies: {
  http: HttpServer
  sockets: Pick<Sockets, 'forward'>
  identity: Pick<Identity, 'stillValid'>
  guard: WorkspaceGuard
  names: ContentNames
  find: FindContent
  secret: string
}): ContentServer {
  const { http, guard } = dependencies
  const { baseUrl, clock, logger, trustProxy } = http.options
  const passes = createContentPasses({ secret: dependencies.secret, clock })
  const limiter = createRateLimiter({
    limits: { ...http.options.rateLimits, static: contentRequestsPerMinute },
    clock,
  })
  const server = createContentServer({
    names: dependencies.names,
    passes,
    baseUrl,
    issuer: baseUrl ?? 'urn:atelier',
    find: dependencies.find,
    guard,
    stillValid: dependencies.identity.stillValid,
    addressOf: createCallerAddress(trustProxy),
    limit(caller) {
      const { allowed, resetSeconds } = limiter.consume('static', caller)
      if (!allowed) throw new AppError('RATE_LIMITED', `Too many requests; try again in ${resetSeconds} s`)
    },
    logger,
  })
  mountContentRoutes({ ...dependencies, passes })
  http.forward(server.matches, server.handle)
  dependencies.sockets.forward(server.matches, server.upgrade)
  return server
}
