import { tmpdir } from 'node:os'
import pino from 'pino'
import { authFeature, createIdentity, type Identity } from '../../packages/server/src/features/auth/index.ts'
import type { Database } from '../../packages/server/src/platform/db/database.ts'
import { createHttpServer } from '../../packages/server/src/platform/http/http-server.ts'
import { createSocketTickets } from '../../packages/server/src/platform/http/socket-tickets.ts'
import type { SecurityEvent } from '../../packages/server/src/platform/identity/security-event.ts'

export interface IdentityServer extends AsyncDisposable {
  readonly url: string
  readonly identity: Identity
  readonly events: SecurityEvent[]
  /** moves the clock of this server on */
  pass(milliseconds: number): void
}

const many = 1_000_000

/**
 * A server of accounts alone on a database of the caller's, whose clock a test can move. Two of them on one database
 * are two nodes.
 */
export async function startIdentityServer(options: {
  database: Database
  secret?: string
  baseUrl?: string
}): Promise<IdentityServer> {
  const { database, secret = 'a secret of at least 32 characters', baseUrl } = options
  await using stack = new AsyncDisposableStack()
  const events: SecurityEvent[] = []
  const logger = pino({ level: 'silent' })
  let passed = 0
  const clock = () => Date.now() + passed
  const identity = createIdentity({
    database,
    secret,
    baseUrl,
    clock,
    logger,
    onSecurityEvent: (event) => events.push(event),
  })
  const http = stack.use(
    createHttpServer({
      baseUrl,
      host: '127.0.0.1',
      trustProxy: false,
      rateLimits: { standard: many, ai: many, upload: many, probe: many, static: many },
      stagingDirectory: tmpdir(),
      authenticate: identity.authenticate,
      stillValid: identity.stillValid,
      logger,
      clock,
      validateAnswers: true,
    }),
  )
  authFeature({ http, identity, tickets: createSocketTickets({ clock }) })
  const url = await http.app.listen({ port: 0, host: '127.0.0.1' })
  const owned = stack.move()
  return {
    url,
    identity,
    events,
    pass: (milliseconds) => {
      passed += milliseconds
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
