import { createHmac } from 'node:crypto'
import { createApiKey, getSession, getToken, signIn, signOut, signUp } from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, dataOf, failureOf, type Requests, requestsTo, tokenIn } from './identity-requests.ts'

let server: TestServer
let admin: Person
let person: Person
let get: Requests['get']
let post: Requests['post']

beforeAll(async () => {
  server = await startTestServer()
  ;({ get, post } = requestsTo(server.url))
  admin = await signUpPerson(server.url, { name: 'First' })
  person = await signUpPerson(server.url)
})
afterAll(() => server[Symbol.asyncDispose]())

const password = 'correct horse battery'

/** An endpoint for any signed-in person. */
const keysPath = createApiKey.path
const statusWith = async (headers: Record<string, string>) => (await get(keysPath, headers)).status

let addresses = 0
const newAddress = () => `somebody-${++addresses}@example.com`

describe('accounts', () => {
  it('[AUTH1, AUTH10] signing up answers the user and sets the cookie; the body holds no token', async () => {
    const email = newAddress()
    const response = await post(signUp.path, { name: ' Grace ', email, password })
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const text = await response.clone().text()
    expect(await dataOf(response)).toEqual({
      user: {
        id: expect.stringMatching(/^usr_[0-9A-HJKMNP-TV-Z]{26}$/),
        name: 'Grace',
        email,
        role: 'user',
        createdAt: expect.any(String),
      },
    })
    const cookies = response.headers.getSetCookie()
    expect(cookies).toHaveLength(1)
    expect(cookies[0]).toMatch(
      /^atelier\.session=[\w%.-]{60,}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    expect(text).not.toContain(tokenIn(cookies[0] as string))
  })

  it('[AUTH1] signing in answers the same user with a new session', async () => {
    const response = await post(signIn.path, { email: person.email, password })
    expect(response.status).toBe(200)
    const text = await response.clone().text()
    expect(await dataOf(response)).toEqual({ user: person.user })
    const [cookie = ''] = response.headers.getSetCookie()
    expect(text).not.toContain(tokenIn(cookie))
    expect(cookie.split(';')[0]).not.toBe(person.cookie)
    expect(await statusWith({ cookie: cookie.split(';')[0] as string })).toBe(200)
    expect(await statusWith(person.headers)).toBe(200)
  })

  it('[AUTH2] the first account is the administrator and the next is not', () => {
    expect([admin.user.role, person.user.role]).toEqual(['admin', 'user'])
  })

  it('[AUTH3] letter case does not matter at sign-in, and makes no second account', async () => {
    const email = newAddress()
    await signUpPerson(server.url, { email })
    expect((await post(signIn.path, { email: email.toUpperCase(), password })).status).toBe(200)
    expect((await post(signUp.path, { name: 'B', email: email.toUpperCase(), password })).status).toBe(409)
  })

  it.each([
    ['a full-width @', 'ada\uFF20example.com'],
    ['a small @', 'ada\uFE6Bexample.com'],
    ['a Cyrillic letter', '\u0430da@example.com'],
    ['a combining accent', 'e\u0301da@example.com'],
    ['a zero-width space', 'ada@example.com\u200B'],
    ['a second address', 'ada@example.com,eve@example.com'],
    ['a line end', 'ada@example.com\nbcc:eve@example.com'],
    ['300 characters', `${'a'.repeat(290)}@example.com`],
    ['an object', { $gt: '' }],
    ['a list', ['ada@example.com']],
    ['nothing', undefined],
  ])('[AUTH3] an address with %s is refused by name', async (_what, email) => {
    for (const path of [signUp.path, signIn.path]) {
      const body = path === signUp.path ? { name: 'Ada', email, password } : { email, password }
      const response = await post(path, body)
      expect(response.status).toBe(400)
      expect(await failureOf(response)).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: 'email' },
      })
    }
  })

  it('[AUTH4] an address that is taken answers CONFLICT and nothing about its account', async () => {
    const response = await post(signUp.path, {
      name: 'Eve',
      email: person.email,
      password: 'another password',
    })
    expect(response.status).toBe(409)
    expect(response.headers.getSetCookie()).toEqual([])
    expect(await failureOf(response)).toEqual({
      code: 'CONFLICT',
      message: 'There is an account with this e-mail address',
    })
    expect((await post(signIn.path, { email: person.email, password: 'another password' })).status).toBe(401)
  })

  it.each([
    ['password', { password: 'eleven char' }],
    ['password', { password: 'x'.repeat(129) }],
    ['password', { password: 123456789012 }],
    ['name', { name: '   ' }],
    ['role', { role: 'admin' }],
    ['id', { id: 'usr_01JD8XQ4ZK3V5N6P7R8S9T0ABC' }],
    ['emailVerified', { emailVerified: true }],
    ['banned', { banned: false }],
    ['createdAt', { createdAt: '2020-01-01T00:00:00Z' }],
    ['callbackURL', { callbackURL: 'https://evil.example' }],
    ['rememberMe', { rememberMe: true }],
    ['image', { image: 'https://evil.example/x.png' }],
  ])('[AUTH5] sign-up refuses %s %j by name and stores nothing', async (field, wrong) => {
    const email = newAddress()
    const response = await post(signUp.path, { name: 'Ada', email, password, ...wrong })
    expect(response.status).toBe(400)
    expect(await failureOf(response)).toMatchObject({ code: 'VALIDATION_ERROR', details: { field } })
    expect(response.headers.getSetCookie()).toEqual([])
    expect((await post(signUp.path, { name: 'Ada', email, password })).status).toBe(200)
  })

  it('[AUTH5] sign-up refuses a body with __proto__ and changes no prototype', async () => {
    const response = await fetch(server.url + signUp.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"name":"Ada","email":"${newAddress()}","password":"${password}","__proto__":{"role":"admin"}}`,
    })
    expect(response.status).toBe(400)
  })

  it('[AUTH5] passwords of 12 and of 128 characters, spaces and any script, are taken and must match exactly', async () => {
    for (const chosen of [
      'twelve chars',
      'x'.repeat(128),
      ' leading and trailing ',
      'пароль из слов 密码 🔑',
    ]) {
      const email = newAddress()
      await signUpPerson(server.url, { email, password: chosen })
      expect((await post(signIn.path, { email, password: chosen })).status).toBe(200)
      expect((await post(signIn.path, { email, password: chosen.slice(0, -1) })).status).toBe(401)
    }
  })

  it('[AUTH6] a wrong password and an unknown address get the same answer for the same work', async () => {
    const known = await signUpPerson(server.url)
    const work: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
    const answers = new Set<string>()
    for (let round = 0; round < 7; round += 1) {
      for (const [kind, email] of [
        ['known', known.email],
        ['unknown', newAddress()],
      ] as const) {
        const start = process.cpuUsage()
        const response = await post(signIn.path, { email, password: 'not the password' })
        const { user, system } = process.cpuUsage(start)
        work[kind].push(user + system)
        answers.add(
          JSON.stringify([response.status, await failureOf(response), response.headers.getSetCookie()]),
        )
      }
    }
    expect([...answers]).toEqual([
      JSON.stringify([
        401,
        { code: 'UNAUTHORIZED', message: 'The e-mail address or the password is wrong' },
        [],
      ]),
    ])
    // Processor time, which does not depend on what else the machine does. A hash takes some 80 ms, everything else
    // about 5: without the hash the quotient would be 10 and more.
    const quotient = Math.min(...work.known) / Math.min(...work.unknown)
    expect(quotient).toBeGreaterThan(0.5)
    expect(quotient).toBeLessThan(2)
  })

  it('[AUTH7] after ten failures the right password is refused too, with Retry-After; another account is not', async () => {
    const victim = await signUpPerson(server.url)
    const tries = await Promise.all(
      Array.from({ length: 15 }, () =>
        post(signIn.path, { email: victim.email, password: 'not the password' }),
      ),
    )
    expect(tries.filter(({ status }) => status === 401)).toHaveLength(10)
    expect(tries.filter(({ status }) => status === 429)).toHaveLength(5)
    const right = await post(signIn.path, { email: victim.email.toUpperCase(), password })
    expect(right.status).toBe(429)
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(800)
    expect(await failureOf(right)).toMatchObject({ code: 'RATE_LIMITED' })
    expect(await statusWith(victim.headers)).toBe(200)
    expect((await post(signIn.path, { email: person.email, password })).status).toBe(200)
  })

  it('[AUTH7] forwarded addresses of a proxy that is not trusted do not lift the limit', async () => {
    const victim = await signUpPerson(server.url)
    const statuses: number[] = []
    for (let index = 0; index < 12; index += 1) {
      const forged = { 'x-forwarded-for': `192.0.2.${index}`, 'x-atelier-client-address': `192.0.2.${index}` }
      statuses.push((await post(signIn.path, { email: victim.email, password: 'wrong' }, forged)).status)
    }
    expect(statuses.slice(-2)).toEqual([429, 429])
  })

  it.each([
    ['GET', '/api/auth/ok'],
    ['GET', '/api/auth/error'],
    ['GET', '/api/auth/list-sessions'],
    ['GET', '/api/auth/list-accounts'],
    ['GET', '/api/auth/reference'],
    ['POST', '/api/auth/update-user'],
    ['POST', '/api/auth/change-email'],
    ['POST', '/api/auth/change-password'],
    ['POST', '/api/auth/delete-user'],
    ['POST', '/api/auth/revoke-session'],
    ['POST', '/api/auth/sign-in/social'],
    ['POST', '/api/auth/request-password-reset'],
    ['POST', '/api/auth/get-access-token'],
    ['POST', '/api/auth/api-key/create'],
    ['POST', '/api/auth/sign-up/email/'],
    ['POST', '/api/auth//sign-up/email'],
  ])('[AUTH9] %s %s of the library is not there', async (method, path) => {
    const response = await fetch(server.url + path, { method, headers: person.headers })
    expect(response.status).toBe(404)
    expect(await failureOf(response)).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('sessions', () => {
  it('[AUTH13] who the cookie stands for, and null without one', async () => {
    const response = await get(getSession.path, person.headers)
    expect(await dataOf(response)).toEqual({
      user: person.user,
      session: { id: expect.stringMatching(/^ses_/), expiresAt: expect.any(String) },
    })
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.getSetCookie()).toEqual([])
    expect(await dataOf(await get(getSession.path))).toBeNull()
  })

  it('[AUTH12] signing out ends the session for its cookie and its tokens, and only that one', async () => {
    const other = await person.signInAgain()
    const token = await other.token()
    expect([await statusWith(other.headers), await statusWith(bearer(token))]).toEqual([200, 200])
    const response = await fetch(server.url + signOut.path, {
      method: 'POST',
      headers: other.headers,
    })
    expect(await dataOf(response)).toEqual({ success: true })
    expect(response.headers.getSetCookie()).toContainEqual(
      'atelier.session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    )
    expect([await statusWith(other.headers), await statusWith(bearer(token))]).toEqual([401, 401])
    const after = await get(getSession.path, other.headers)
    expect(await dataOf(after)).toBeNull()
    expect(after.headers.getSetCookie()).toEqual([
      'atelier.session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    ])
    expect(await statusWith(person.headers)).toBe(200)
    expect((await fetch(server.url + signOut.path, { method: 'POST' })).status).toBe(200)
  })

  it.each([
    ['no', undefined],
    ['an empty', ''],
    ['a null', 'null'],
    ['a foreign', 'https://evil.example'],
    ['a look-alike', 'http://127.0.0.1.evil.example'],
  ])(
    '[AUTH14] with the cookie and %s Origin, sign-out and making a key are refused',
    async (_what, origin) => {
      const headers = { cookie: person.cookie, ...(origin === undefined ? {} : { origin }) }
      const refused = await fetch(server.url + signOut.path, { method: 'POST', headers })
      expect([refused.status, (await failureOf(refused)).code]).toEqual([403, 'FORBIDDEN'])
      expect((await post(keysPath, { name: 'x', scopes: ['ai'] }, headers)).status).toBe(403)
      expect(await statusWith(person.headers)).toBe(200)
    },
  )

  it('[AUTH14] a foreign page can neither sign anybody in nor up', async () => {
    const origin = 'https://evil.example'
    expect((await post(signIn.path, { email: person.email, password }, { origin })).status).toBe(403)
    expect((await post(signUp.path, { name: 'A', email: newAddress(), password }, { origin })).status).toBe(
      403,
    )
    const form = new URLSearchParams({ email: person.email, password })
    expect((await fetch(server.url + signIn.path, { method: 'POST', body: form })).status).toBe(415)
  })

  it('[AUTH15] the token inside the cookie is no credential by itself', async () => {
    const token = tokenIn(person.cookie)
    expect(token.length).toBeGreaterThan(20)
    expect(await statusWith(bearer(token))).toBe(401)
    expect(await statusWith({ cookie: `atelier.session=${token}` })).toBe(401)
    expect(await statusWith({ cookie: `atelier.session=${token}.` })).toBe(401)
    const [, signed = ''] = person.cookie.split('=')
    expect(await statusWith(bearer(decodeURIComponent(signed)))).toBe(401)
    const forged = createHmac('sha256', 'guess').update(token).digest('base64')
    expect(await statusWith({ cookie: `atelier.session=${encodeURIComponent(`${token}.${forged}`)}` })).toBe(
      401,
    )
    expect(await dataOf(await get(getSession.path, { cookie: `atelier.session=${token}` }))).toBeNull()
  })

  it('[AUTH10] with an https address the cookie is Secure and bound to the host', async () => {
    await using secure = await startTestServer({
      environment: { ATELIER_BASE_URL: 'https://atelier.example', ATELIER_SECRET: 'x'.repeat(32) },
    })
    const response = await fetch(secure.url + signUp.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'https://atelier.example' },
      body: JSON.stringify({ name: 'Ada', email: newAddress(), password }),
    })
    const [cookie = ''] = response.headers.getSetCookie()
    expect(cookie).toMatch(
      /^__Host-atelier\.session=[\w%.-]{60,}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
    const headers = { cookie: cookie.split(';')[0] as string }
    const session = await fetch(secure.url + getSession.path, { headers })
    expect(await dataOf(session)).toMatchObject({ user: { role: 'admin' } })
    const plain = { cookie: headers.cookie.replace('__Host-', '') }
    expect(await dataOf(await fetch(secure.url + getSession.path, { headers: plain }))).toBeNull()
    const { token } = await dataOf<{ token: string }>(await fetch(secure.url + getToken.path, { headers }))
    expect(decodeJwt(token)).toMatchObject({ iss: 'https://atelier.example', aud: 'https://atelier.example' })
    expect(await statusWith(bearer(token))).toBe(401)
  })
})
