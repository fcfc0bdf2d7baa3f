import type { Body, Data, getSession, signIn, signUp, User } from '@atelier/contract'
import { APIError } from 'better-auth/api'
import { hashPassword } from 'better-auth/crypto'
import { AppError } from '../../base/app-error.ts'
import type { Clock } from '../../base/clock.ts'
import type { LiveSession } from '../../platform/identity/authenticate.ts'
import { normaliseEmail } from '../../platform/identity/email-address.ts'
import type { PrincipalCache } from '../../platform/identity/principal-cache.ts'
import type { OnSecurityEvent } from '../../platform/identity/security-event.ts'
import type { SessionCookie } from '../../platform/identity/session-cookie.ts'
import { type AuthLibrary, clientAddressHeader } from './auth-library.ts'
import type { HashGate } from './hash-gate.ts'
import type { SessionStore } from './session-store.ts'
import type { SignInGuard } from './sign-in-guard.ts'
import type { UserStore } from './user-store.ts'

/** Who asks, for the session's record and the failure limit. */
export interface Caller {
  /** IP address */
  address: string
  /** the address that limits count by: IPv6 by its network */
  limitAddress: string
  userAgent: string
}

/** An answer and the `Set-Cookie` headers that go with it. */
interface WithCookies<Result> {
  result: Result
  setCookies: string[]
}

/** Accounts and browser sessions: what happens at sign-up, sign-in, sign-out. */
export interface Accounts {
  /** Throws CONFLICT when the address has an account. */
  signUp(account: Body<typeof signUp>, caller: Caller): Promise<WithCookies<User>>
  /** Throws UNAUTHORIZED for a wrong address or password alike, RATE_LIMITED, FORBIDDEN when banned. */
  signIn(credentials: Body<typeof signIn>, caller: Caller): Promise<WithCookies<User>>
  /** Ends the session of a cookie value; an answer is given whether there was one or not. */
  signOut(cookieValue: string): Promise<string[]>
  /** The session of a cookie value; when it has ended, `null` and what clears the cookie. */
  session(cookieValue: string): Promise<WithCookies<Data<typeof getSession>>>
}

export interface AccountsOptions {
  library: AuthLibrary
  cookie: SessionCookie
  users: UserStore
  sessions: SessionStore
  guard: SignInGuard
  hashGate: HashGate
  cache: PrincipalCache
  clock: Clock
  onSecurityEvent: OnSecurityEvent
}

export function createAccounts(options: AccountsOptions): Accounts {
  const { library, cookie, users, sessions, guard, hashGate, cache, clock, onSecurityEvent } = options

  /** Checks the password and starts a session. `null`: the address or the password is wrong. */
  async function startSession(email: string, password: string, caller: Caller) {
    const answer = await callLibrary(() =>
      library.api.signInEmail({
        body: { email, password },
        headers: new Headers({ [clientAddressHeader]: caller.address, 'user-agent': caller.userAgent }),
        returnHeaders: true,
      }),
    )
    if (!answer) return null
    const { token } = answer.response
    return { token, session: await sessions.byToken(token), setCookies: answer.headers.getSetCookie() }
  }

  async function userOf({ userId }: LiveSession): Promise<User> {
    const user = await users.byId(userId)
    if (!user) throw new AppError('UNAUTHORIZED', 'The account is gone')
    return user
  }

  async function attempt(email: string, password: string, caller: Caller) {
    const { address, limitAddress } = caller
    const refused = (reason: 'wrong-password-or-address' | 'too-many-failures' | 'banned') =>
      onSecurityEvent({ type: 'sign-in-refused', email, address, reason })
    const admitted = admit(guard, { email, address: limitAddress }, () => refused('too-many-failures'))
    const started = await startSession(email, password, caller).catch((error: unknown) => {
      admitted.abandoned()
      throw error
    })
    if (!started) {
      refused('wrong-password-or-address')
      throw new AppError('UNAUTHORIZED', 'The e-mail address or the password is wrong')
    }
    admitted.succeeded()
    const { token, session, setCookies } = started
    if (!session) {
      await sessions.endByToken(token)
      refused('banned')
      throw new AppError('FORBIDDEN', 'This account is suspended')
    }
    await sessions.prune(session.userId)
    return { session, setCookies }
  }

  return {
    async signUp({ name, password, ...rest }, caller) {
      const email = normaliseEmail(rest.email)
      const { address } = caller
      const passwordHash = await hashGate(() => hashPassword(password))
      const user = await users
        .create({ name, email, passwordHash, createdAt: new Date(clock()) })
        .catch((error: unknown) => {
          if (error instanceof AppError && error.code === 'CONFLICT') {
            onSecurityEvent({ type: 'sign-up-refused', email, address, reason: 'address-taken' })
          }
          throw error
        })
      onSecurityEvent({ type: 'signed-up', userId: user.id, email, address })
      const started = await startSession(email, password, caller)
      if (!started) throw new Error('a new account cannot sign in')
      return { result: user, setCookies: started.setCookies }
    },

    async signIn({ password, ...rest }, caller) {
      const email = normaliseEmail(rest.email)
      const { session, setCookies } = await attempt(email, password, caller)
      onSecurityEvent({ type: 'signed-in', userId: session.userId, email, address: caller.address })
      return { result: await userOf(session), setCookies }
    },

    async signOut(cookieValue) {
      const token = cookie.tokenOf(cookieValue)
      const session = token === null ? null : await sessions.byToken(token)
      const headers = new Headers({ cookie: `${cookie.name}=${cookieValue}` })
      const answer = await library.api.signOut({ headers, returnHeaders: true })
      if (session) {
        // The library reports success even where its delete failed.
        await sessions.end(session.sessionId)
        cache.forgetAll()
        onSecurityEvent({ type: 'signed-out', userId: session.userId, sessionId: session.sessionId })
      }
      return answer.headers.getSetCookie()
    },

    async session(cookieValue) {
      const token = cookie.tokenOf(cookieValue)
      const session = token === null ? null : await sessions.byToken(token)
      if (!session) return { result: null, setCookies: [cookie.cleared] }
      await sessions.used(session)
      const expiresAt = new Date(session.expiresAt).toISOString()
      return {
        result: { user: await userOf(session), session: { id: session.sessionId, expiresAt } },
        setCookies: [],
      }
    },
  }
}

function admit(guard: SignInGuard, attempt: { email: string; address: string }, refused: () => void) {
  try {
    return guard.admit(attempt)
  } catch (error) {
    refused()
    throw error
  }
}

/** `null` where the library says that the credentials are wrong; its other refusals are faults of ours. */
async function callLibrary<Result>(call: () => Promise<Result>): Promise<Result | null> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof APIError && error.body?.code === 'INVALID_EMAIL_OR_PASSWORD') return null
    throw error
  }
}
