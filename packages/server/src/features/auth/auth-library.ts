import { betterAuth } from 'better-auth'
import { hashPassword, verifyPassword } from 'better-auth/crypto'
import type { Logger } from 'pino'
import { ulid } from 'ulid'
import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/ids.ts'
import type { Database } from '../../platform/db/database.ts'
import type { SessionCookie } from '../../platform/identity/session-cookie.ts'
import type { HashGate } from './hash-gate.ts'

/** A session ends after so long, however much it is used. */
export const sessionLifetimeSeconds = 7 * 24 * 60 * 60

/** Set by us alone: the library takes the client's address from it. */
export const clientAddressHeader = 'x-atelier-client-address'

export type AuthLibrary = ReturnType<typeof createAuthLibrary>

/**
 * The sign-in library on our tables. It is called through `api`, never mounted: its own routes, limits, Origin checks
 * and envelopes stay unreachable. Two-factor, organisation and SAML plugins go into `plugins`, in this order.
 */
export function createAuthLibrary(options: {
  database: Database
  secret: string
  cookie: SessionCookie
  hashGate: HashGate
  clock: Clock
  logger: Logger
}) {
  const { database, secret, cookie, hashGate, clock, logger } = options
  return betterAuth({
    appName: 'Atelier',
    // Only its own links would use it, and it sends none.
    baseURL: 'http://localhost',
    basePath: '/api/auth',
    // The list takes precedence over a variable of the environment that the library would read; `secret` does not.
    secrets: [{ version: 1, value: secret }],
    database: { db: database.kysely, type: 'postgres', transaction: true },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      password: {
        hash: (password) => hashGate(() => hashPassword(password)),
        verify: (attempt) => hashGate(() => verifyPassword(attempt)),
      },
    },
    session: {
      modelName: 'sessions',
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
      additionalFields: {
        lastActiveAt: { type: 'date', fieldName: 'last_active_at', required: false, input: false },
      },
      expiresIn: sessionLifetimeSeconds,
      disableSessionRefresh: true,
    },
    databaseHooks: {
      session: {
        create: {
          // By our clock, which is what decides when the session has ended.
          before: async (session) => {
            const now = clock()
            const expiresAt = new Date(now + sessionLifetimeSeconds * 1000)
            return { data: { ...session, expiresAt, lastActiveAt: new Date(now) } }
          },
        },
      },
    },
    user: {
      modelName: 'users',
      fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    account: {
      modelName: 'accounts',
      fields: {
        userId: 'user_id',
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    verification: {
      modelName: 'verifications',
      fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    advanced: {
      // The name carries its own prefix; the library's would be `__Secure-`.
      useSecureCookies: false,
      cookiePrefix: 'atelier',
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: '/', secure: cookie.secure },
      cookies: { session_token: { name: cookie.name } },
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
      database: { generateId: ({ model }) => idOf(model), validateSchema: false },
    },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { level: 'error', log: (_level, message) => logger.error({ library: 'better-auth' }, message) },
    plugins: [],
  })
}

function idOf(model: string): string {
  if (model === 'user') return newId('user')
  if (model === 'session') return newId('session')
  return `${model.slice(0, 3)}_${ulid()}`
}
