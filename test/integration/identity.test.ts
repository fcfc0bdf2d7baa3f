import type { IncomingMessage } from 'node:http'
import { describeOnEveryDatabase, openTestDatabase, type Person, signUpPerson } from '@atelier/testkit'
import { decodeJwt } from 'jose'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Database } from '../../packages/server/src/platform/db/database.ts'
import { type IdentityServer, startIdentityServer } from './identity-server.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const password = 'correct horse battery'

describeOnEveryDatabase('accounts and credentials', (engine) => {
  let database: Database
  let server: IdentityServer

  beforeAll(async () => {
    database = await openTestDatabase(engine)
  })
  afterAll(() => database[Symbol.asyncDispose]())

  beforeEach(async () => {
    await sql`truncate users, administrator_claim, jwks cascade`.execute(database.kysely)
    server = await startIdentityServer({ database })
  })
  afterEach(() => server[Symbol.asyncDispose]())

  const signUp = (email: string) =>
    fetch(`${server.url}/api/auth/sign-up/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Ada', email, password }),
    })

  /** Asks with a credential for something that only a person of that kind of credential gets. */
  const status = async (headers: Record<string, string>, url = server.url) =>
    (await fetch(`${url}/api/auth/api-keys`, { headers })).status

  const statusOf = async (response: Promise<Response>) => (await response).status

  async function statuses(person: Person, token: string, key: string): Promise<Record<string, number>> {
    return {
      cookie: await status({ cookie: person.cookie }),
      token: await status({ authorization: `Bearer ${token}` }),
      // An API key may not list keys: 403 tells that it was recognised.
      key: await status({ 'x-api-key': key }),
    }
  }

  const count = async (table: 'users' | 'accounts' | 'sessions' | 'jwks') => {
    const all = database.kysely.selectFrom(table)
    const { rows } = await all.select(({ fn }) => fn.countAll<number>().as('rows')).executeTakeFirstOrThrow()
    return rows
  }

  it('[AUTH3] thirty sign-ups of one address at the same time make one account', async () => {
    const spellings = ['ada@example.com', 'Ada@Example.com', 'ADA@EXAMPLE.COM']
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => signUp(spellings[index % 3] as string)),
    )
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(29)
    expect([await count('users'), await count('accounts'), await count('sessions')]).toEqual([1, 1, 1])
  })

  it('[AUTH2] of people who sign up first at the same time, one is the administrator', async () => {
    const people = await Promise.all(Array.from({ length: 8 }, () => signUpPerson(server.url)))
    expect(people.filter(({ user }) => user.role === 'admin')).toHaveLength(1)
  })

  it('[AUTH2] nobody becomes the administrator because the first account was deleted', async () => {
    const first = await signUpPerson(server.url)
    expect(first.user.role).toBe('admin')
    await database.kysely.deleteFrom('users').where('id', '=', first.user.id).execute()
    expect((await signUpPerson(server.url)).user.role).toBe('user')
  })

  it('[AUTH11] a session that nobody uses for 24 hours has ended', async () => {
    const person = await signUpPerson(server.url)
    server.pass(day - minute)
    expect(await status(person.headers)).toBe(200)
    server.pass(day - 2 * minute)
    expect(await status(person.headers)).toBe(200)
    server.pass(day + minute)
    expect(await status(person.headers)).toBe(401)
    const session = await fetch(`${server.url}/api/auth/get-session`, { headers: person.headers })
    expect(await session.json()).toMatchObject({ data: null })
    expect(session.headers.getSetCookie()[0]).toMatch(/^atelier\.session=; Max-Age=0;/)
  })

  it('[AUTH11] a session ends after 7 days, however much it is used', async () => {
    const person = await signUpPerson(server.url)
    for (let used = 0; used < 13; used += 1) {
      server.pass(13 * hour - minute)
      if (used < 12) expect(await status(person.headers)).toBe(200)
    }
    expect(await status(person.headers)).toBe(401)
  })

  it('[AUTH24] a ban ends every credential within five seconds, and sign-in', async () => {
    const person = await signUpPerson(server.url)
    const [token, key] = [await person.token(), await person.apiKey()]
    expect(await statuses(person, token, key)).toEqual({ cookie: 200, token: 200, key: 403 })
    await database.kysely
      .updateTable('users')
      .set({ banned: true })
      .where('id', '=', person.user.id)
      .execute()
    server.pass(5_000)
    expect(await statuses(person, token, key)).toEqual({ cookie: 401, token: 401, key: 401 })
    await expect(person.signInAgain()).rejects.toThrow(/403.*suspended/)
    expect(await count('sessions')).toBe(1)
  })

  it('[AUTH45] what another node revokes ends here within five seconds; what this one revokes, at once', async () => {
    await using other = await startIdentityServer({ database })
    const person = await signUpPerson(server.url)
    const token = await person.token()
    const authorization = { authorization: `Bearer ${token}` }
    expect(await status(authorization)).toBe(200)
    expect(await status(authorization, other.url)).toBe(200)
    await fetch(`${server.url}/api/auth/sign-out`, { method: 'POST', headers: person.headers })
    expect(await status(authorization)).toBe(401)
    other.pass(5_000)
    expect(await status(authorization, other.url)).toBe(401)
  })

  it('[AUTH22] the private half of a signing key is stored encrypted', async () => {
    const person = await signUpPerson(server.url)
    await person.token()
    const row = await database.kysely.selectFrom('jwks').selectAll().executeTakeFirstOrThrow()
    expect(row.public_key).toMatchObject({ kty: 'OKP', crv: 'Ed25519', kid: row.id })
    expect(row.public_key).not.toHaveProperty('d')
    expect(row.encrypted_private_key.toString('latin1')).not.toMatch(/OKP|Ed25519|"d"/)
  })

  it('[AUTH22] after 30 days another key signs; tokens of the last one still count, and its public half is kept a day', async () => {
    const person = await signUpPerson(server.url)
    const kidOf = (token: string) => JSON.parse(atob(token.split('.')[0] as string)).kid as string
    const kids = async () => {
      const { keys } = (await (await fetch(`${server.url}/api/auth/jwks`)).json()) as {
        keys: { kid: string }[]
      }
      return keys.map(({ kid }) => kid)
    }
    const first = await person.token()
    server.pass(30 * day - 5 * minute)
    const again = await signUpPerson(server.url)
    const last = await again.token()
    expect(kidOf(last)).toBe(kidOf(first))
    server.pass(5 * minute)
    const next = await again.token()
    expect(kidOf(next)).not.toBe(kidOf(last))
    expect(await status({ authorization: `Bearer ${last}` })).toBe(200)
    expect(await status({ authorization: `Bearer ${next}` })).toBe(200)
    expect(await kids()).toEqual([kidOf(next), kidOf(last)])
    server.pass(day)
    expect(await kids()).toEqual([kidOf(next)])
  })

  it('[AUTH22] a key that another node made is found', async () => {
    const person = await signUpPerson(server.url)
    const first = await person.token()
    await using other = await startIdentityServer({ database, secret: 'another secret of 32 characters!' })
    expect(await status({ authorization: `Bearer ${first}` }, other.url)).toBe(200)
    const there = await signUpPerson(other.url)
    const token = await there.token()
    expect(await count('jwks')).toBe(2)
    server.pass(1_000)
    expect(await status({ authorization: `Bearer ${token}` })).toBe(200)
  })

  it('[AUTH16] with another secret nobody is signed in, and tokens are made again', async () => {
    const person = await signUpPerson(server.url)
    await person.token()
    await using other = await startIdentityServer({ database, secret: 'another secret of 32 characters!' })
    expect(await status(person.headers, other.url)).toBe(401)
    expect(decodeJwt(await (await signUpPerson(other.url)).token()).iss).toBe('urn:atelier')
  })

  it('[AUTH20] a token lasts 10 minutes', async () => {
    const person = await signUpPerson(server.url)
    const authorization = { authorization: `Bearer ${await person.token()}` }
    server.pass(10 * minute - 5_000)
    expect(await status(authorization)).toBe(200)
    server.pass(5_000)
    expect(await status(authorization)).toBe(401)
  })

  it('[AUTH34] an API key ends when it says, 90 days later unless told', async () => {
    const person = await signUpPerson(server.url)
    const usual = await person.apiKey()
    const short = await person.apiKey({ expiresInDays: 1 })
    expect([await status({ 'x-api-key': usual }), await status({ 'x-api-key': short })]).toEqual([403, 403])
    server.pass(day)
    expect([await status({ 'x-api-key': usual }), await status({ 'x-api-key': short })]).toEqual([403, 401])
    server.pass(89 * day)
    expect(await status({ 'x-api-key': usual })).toBe(401)
  })

  it('[AUTH36] the last use of an API key is written at most once a minute', async () => {
    const person = await signUpPerson(server.url)
    const key = await person.apiKey()
    const lastUsed = async () =>
      (await server.identity.apiKeys.list(person.user.id)).map(({ lastUsedAt }) => lastUsedAt)[0]
    expect(await lastUsed()).toBeNull()
    await status({ 'x-api-key': key })
    const first = await lastUsed()
    expect(first).toEqual(expect.any(String))
    server.pass(minute - 10_000)
    await status({ 'x-api-key': key })
    expect(await lastUsed()).toBe(first)
    server.pass(10_000)
    await status({ 'x-api-key': key })
    expect(await lastUsed()).not.toBe(first)
  })

  it('[AUTH32] of a key only its public id and a hash are stored', async () => {
    const person = await signUpPerson(server.url)
    const key = await person.apiKey()
    const row = await database.kysely.selectFrom('api_keys').selectAll().executeTakeFirstOrThrow()
    expect(row.key_hash).toHaveLength(32)
    expect(JSON.stringify(row)).not.toContain(key.split('_')[2])
  })

  it('[AUTH38] a user has at most 100 API keys that count, however many are asked for at once', async () => {
    const person = await signUpPerson(server.url)
    for (let made = 0; made < 95; made += 1) await person.apiKey({ expiresInDays: 30 })
    const more = await Promise.allSettled(Array.from({ length: 10 }, () => person.apiKey()))
    expect(more.filter(({ status: outcome }) => outcome === 'fulfilled')).toHaveLength(5)
    expect(more.filter((one) => one.status === 'rejected' && /409/.test(String(one.reason)))).toHaveLength(5)
    server.pass(30 * day)
    await expect((await person.signInAgain()).apiKey()).resolves.toMatch(/^atl_/)
  })

  it('[AUTH31, AUTH44] without the database nobody gets in: 503 with every kind of credential, and at sign-in', async () => {
    await using busy = await openTestDatabase(engine, { acquireTimeoutMilliseconds: 200 })
    await using shut = await startIdentityServer({ database: busy })
    const person = await signUpPerson(shut.url)
    const [token, key] = [await person.token(), await person.apiKey()]
    const { headers } = person
    const held = Promise.withResolvers<void>()
    const all = Array.from({ length: busy.statistics().max }, () =>
      busy.kysely.connection().execute(() => held.promise),
    )
    shut.pass(5_000)
    try {
      const post = { method: 'POST', headers }
      const account = JSON.stringify({ name: 'Grace', email: 'grace@example.com', password })
      const json = { 'content-type': 'application/json' }
      const answers = await Promise.all([
        status({ cookie: person.cookie }, shut.url),
        status({ authorization: `Bearer ${token}` }, shut.url),
        status({ 'x-api-key': key }, shut.url),
        statusOf(fetch(`${shut.url}/api/auth/sign-out`, post)),
        statusOf(fetch(`${shut.url}/api/auth/get-session`, { headers })),
        statusOf(fetch(`${shut.url}/api/auth/jwks`)),
        statusOf(
          fetch(`${shut.url}/api/auth/sign-up/email`, { method: 'POST', headers: json, body: account }),
        ),
        expect(person.signInAgain()).rejects.toThrow(/503/),
      ])
      expect(answers.slice(0, -1)).toEqual([503, 503, 503, 503, 503, 503, 503])
      // A wrong checksum needs no database.
      const wrong = key.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
      expect(await status({ 'x-api-key': wrong }, shut.url)).toBe(401)
    } finally {
      held.resolve()
      await Promise.all(all)
    }
    expect(await status({ cookie: person.cookie }, shut.url)).toBe(200)
  })

  it('[AUTH46] what happens to credentials is told, without any of them', async () => {
    const person = await signUpPerson(server.url)
    const [token, key] = [await person.token(), await person.apiKey()]
    await status({ 'x-api-key': key })
    await status({ authorization: `Bearer ${token.slice(0, -1)}` })
    const id = (await server.identity.apiKeys.list(person.user.id))[0]?.id
    await fetch(`${server.url}/api/auth/api-keys/${id}`, { method: 'DELETE', headers: person.headers })
    await status({ 'x-api-key': key })
    await fetch(`${server.url}/api/auth/sign-out`, { method: 'POST', headers: person.headers })
    await status({ authorization: `Bearer ${token}` })
    await signUp(person.email)
    expect(
      server.events.map((event) => ('reason' in event ? `${event.type}: ${event.reason}` : event.type)),
    ).toEqual([
      'signed-up',
      'token-issued',
      'api-key-created',
      'credential-refused: unknown',
      'api-key-revoked',
      'credential-refused: key-revoked',
      'signed-out',
      'credential-refused: session-ended',
      'sign-up-refused: address-taken',
    ])
    const told = JSON.stringify(server.events)
    const sessionToken = decodeURIComponent(person.cookie)
      .slice('atelier.session='.length)
      .split('.')[0] as string
    for (const secret of [password, sessionToken, token.split('.')[2], key.split('_')[2]]) {
      expect(told).not.toContain(secret)
    }
  })

  it('[AUTH17] an account that was deleted leaves nothing to its next owner', async () => {
    const before = await signUpPerson(server.url, { email: 'ada@example.com' })
    const [token, key] = [await before.token(), await before.apiKey()]
    await database.kysely.deleteFrom('users').where('id', '=', before.user.id).execute()
    server.pass(5_000)
    const after = await signUpPerson(server.url, { email: 'ada@example.com' })
    expect(after.user.id).not.toBe(before.user.id)
    expect(await statuses(before, token, key)).toEqual({ cookie: 401, token: 401, key: 401 })
    expect(await server.identity.apiKeys.list(after.user.id)).toEqual([])
  })

  it('[AUTH45] what stays open longer than a request can ask whether its credential still holds', async () => {
    const person = await signUpPerson(server.url)
    const key = await person.apiKey()
    const { authenticate, stillValid, apiKeys } = server.identity
    const principals = await Promise.all(
      [
        ['Cookie', person.cookie],
        ['Authorization', `Bearer ${await person.token()}`],
        ['X-Api-Key', key],
      ].map((rawHeaders) => authenticate({ rawHeaders, socket: {} } as unknown as IncomingMessage)),
    )
    const valid = () => Promise.all(principals.map((principal) => principal && stillValid(principal)))
    expect(await valid()).toEqual([true, true, true])
    await apiKeys.revoke(person.user.id, (await apiKeys.list(person.user.id))[0]?.id ?? '')
    await fetch(`${server.url}/api/auth/sign-out`, { method: 'POST', headers: person.headers })
    expect(await valid()).toEqual([false, false, false])
  })

  it('[AUTH11] asking whether a session still holds does not keep it from ending idle', async () => {
    const person = await signUpPerson(server.url)
    const { authenticate, stillValid } = server.identity
    const raw = { rawHeaders: ['Cookie', person.cookie], socket: {} } as unknown as IncomingMessage
    const principal = await authenticate(raw)
    if (!principal) throw new Error('nobody is signed in')
    server.pass(day - minute)
    expect(await stillValid(principal)).toBe(true)
    server.pass(2 * minute)
    expect(await stillValid(principal)).toBe(false)
  })

  it('[AUTH18] a session remembers from where and with what it was started', async () => {
    await signUpPerson(server.url)
    const session = await database.kysely.selectFrom('sessions').selectAll().executeTakeFirstOrThrow()
    expect(session).toMatchObject({
      id: expect.stringMatching(/^ses_/),
      ip_address: '127.0.0.1',
      user_agent: 'node',
    })
  })

  it('[AUTH12] ended sessions of a user are removed when they sign in again', async () => {
    const person = await signUpPerson(server.url)
    await person.signInAgain()
    expect(await count('sessions')).toBe(2)
    server.pass(day + minute)
    const again = await person.signInAgain()
    expect(await count('sessions')).toBe(1)
    expect(await status(again.headers)).toBe(200)
  })
})
