import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { type ApiKey, createApiKey, endpoints, getSession, listModels, scopes } from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import {
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  jwtVerify,
  SignJWT,
} from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, dataOf, failureOf, type Requests, requestsTo } from './identity-requests.ts'

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

const keysPath = createApiKey.path
const statusWith = async (headers: Record<string, string>) => (await get(keysPath, headers)).status

describe('tokens', () => {
  it('[AUTH20, AUTH23] a token says who and until when, and anybody can verify it with the published keys', async () => {
    const response = await get('/api/auth/token', person.headers)
    const { token, expiresAt } = await dataOf<{ token: string; expiresAt: string }>(response)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const keys = createRemoteJWKSet(new URL(`${server.url}/api/auth/jwks`))
    const { payload, protectedHeader } = await jwtVerify(token, keys)
    expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: expect.stringMatching(/^jwk_/), typ: 'JWT' })
    expect(Object.keys(payload).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'jti', 'sid', 'sub'])
    expect(payload.sub).toBe(person.user.id)
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(600)
    expect(new Date((payload.exp ?? 0) * 1000).toISOString()).toBe(expiresAt)
    expect(decodeJwt(await person.token()).jti).not.toBe(payload.jti)
  })

  it('[AUTH23] the published keys have no private part', async () => {
    const response = await get('/api/auth/jwks')
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    const { keys } = (await response.json()) as { keys: Record<string, unknown>[] }
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x'])
    }
  })

  it('[AUTH25] only the cookie makes tokens', async () => {
    for (const headers of [bearer(await person.token()), { 'x-api-key': await person.apiKey() }]) {
      const response = await get('/api/auth/token', headers)
      expect([response.status, (await failureOf(response)).code]).toEqual([403, 'FORBIDDEN'])
    }
  })

  it('[AUTH21] a token that was not issued here as it stands is refused', async () => {
    const token = await person.token()
    const [header = '', payload = '', signature = ''] = token.split('.')
    const { kid = '' } = decodeProtectedHeader(token)
    const claims = decodeJwt(token)
    const { keys } = (await (await get('/api/auth/jwks')).json()) as { keys: { x: string }[] }
    const publicKey = keys[0] as { x: string }
    const own = await generateKeyPair('EdDSA', { extractable: true })
    const ownJwk = await exportJWK(own.publicKey)
    const sign = (fields: Record<string, unknown>, extra: Record<string, unknown> = {}) =>
      new SignJWT({ ...claims, ...extra })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid, ...fields })
        .sign(own.privateKey)
    const hs256 = (key: string) => {
      const text = `${encode({ alg: 'HS256', typ: 'JWT', kid })}.${payload}`
      return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
    }
    const forged: Record<string, string> = {
      'alg none': `${encode({ alg: 'none', typ: 'JWT', kid })}.${payload}.`,
      'alg none with a signature': `${encode({ alg: 'none', typ: 'JWT', kid })}.${payload}.${signature}`,
      'alg NoNe': `${encode({ alg: 'NoNe', typ: 'JWT', kid })}.${payload}.AA`,
      'HS256 with the public key': hs256(publicKey.x),
      'HS256 with the public JWK': hs256(JSON.stringify(publicKey)),
      'another key': await sign({}),
      'a key in the header': await sign({ jwk: ownJwk }),
      'a key set in the header': await sign({ jku: `${server.url}/api/auth/jwks` }),
      'an unknown kid': await sign({ kid: 'jwk_01JD8XQ4ZK3V5N6P7R8S9T0ABC' }),
      'a path as kid': await sign({ kid: '../../../../dev/null' }),
      'SQL as kid': await sign({ kid: "' or 1=1 --" }),
      'a number as kid': await sign({ kid: 1 as unknown as string }),
      'an unknown critical header': `${encode({ alg: 'EdDSA', typ: 'JWT', kid, crit: ['x'], x: 1 })}.${payload}.${signature}`,
      'another user': `${header}.${encode({ ...claims, sub: admin.user.id })}.${signature}`,
      'a later end': `${header}.${encode({ ...claims, exp: (claims.exp ?? 0) + 3600 })}.${signature}`,
      'no signature': `${header}.${payload}.`,
      'a signature and more': `${token}AA`,
      'spare bits set': token.slice(0, -1) + nextInAlphabet(token.at(-1) as string),
      padding: `${token}==`,
    }
    const accepted: string[] = []
    for (const [name, text] of Object.entries(forged)) {
      if ((await statusWith(bearer(text))) !== 401) accepted.push(name)
    }
    expect(accepted).toEqual([])
    expect(await statusWith(bearer(token))).toBe(200)
  })

  it('[AUTH21] a token cut short anywhere, or in other letter case, is refused', async () => {
    const token = await person.token()
    const variants = [token.toUpperCase(), token.toLowerCase(), ` ${token}`, `${token}.`]
    for (let length = 0; length < token.length; length += 23) variants.push(token.slice(0, length))
    const statuses = await Promise.all(variants.map((variant) => statusWith(bearer(variant))))
    expect(statuses).toEqual(variants.map(() => 401))
  })
})

describe('API keys', () => {
  it('[AUTH30, AUTH32, AUTH34] a key is shown once, with what it may do', async () => {
    const response = await post(
      keysPath,
      { name: ' CI ', scopes: ['ai', 'files:read', 'ai'] },
      person.headers,
    )
    expect(response.status).toBe(201)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const { key, apiKey } = await dataOf<{ key: string; apiKey: ApiKey }>(response)
    expect(key).toMatch(/^atl_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/)
    expect(apiKey).toMatchObject({
      name: 'CI',
      prefix: key.slice(0, 16),
      scopes: ['ai', 'files:read'],
      workspaceIds: null,
      lastUsedAt: null,
    })
    const days = (Date.parse(apiKey.expiresAt) - Date.parse(apiKey.createdAt)) / 86_400_000
    expect(days).toBeCloseTo(90, 3)
    const list = await (await get(keysPath, person.headers)).text()
    expect(list).toContain(apiKey.id)
    expect(list).not.toContain(key.slice(17))
  })

  it.each([
    ['userId', { userId: 'usr_01JD8XQ4ZK3V5N6P7R8S9T0ABC' }],
    ['rateLimitMax', { rateLimitMax: 1 }],
    ['permissions', { permissions: {} }],
    ['scopes', { scopes: [] }],
    ['scopes.0', { scopes: ['admin'] }],
    ['expiresInDays', { expiresInDays: 366 }],
    ['expiresInDays', { expiresInDays: 0 }],
    ['workspaceIds', { workspaceIds: [] }],
    ['workspaceIds.0', { workspaceIds: ['ws_1'] }],
    ['name', { name: '' }],
  ])('[AUTH33] making a key refuses %s %j by name', async (field, wrong) => {
    const body = { name: 'x', scopes: ['ai'], ...wrong }
    const response = await post(keysPath, body, person.headers)
    expect(response.status).toBe(400)
    expect(await failureOf(response)).toMatchObject({ code: 'VALIDATION_ERROR', details: { field } })
    expect((await post(keysPath, body)).status).toBe(401)
  })

  it('[AUTH31] a key changed in any way is refused', async () => {
    const key = await person.apiKey()
    const variants = [
      key.slice(0, -1),
      `${key}A`,
      key.toUpperCase(),
      key.toLowerCase(),
      key.replace('atl_', 'ATL_'),
      key.slice(0, 20),
      'atl_',
      'x',
      `${key},${key}`,
      key.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      'a'.repeat(5_000),
    ]
    expect(await Promise.all(variants.map((variant) => statusWith({ 'x-api-key': variant })))).toEqual(
      variants.map(() => 401),
    )
    expect(await statusWith({ 'x-api-key': key })).toBe(403)
  })

  it('[AUTH33] a key does what its scopes say', async () => {
    const models = async (key: string) => get(listModels.path, { 'x-api-key': key })
    expect((await models(await person.apiKey({ scopes: ['ai'] }))).status).toBe(200)
    const refused = await models(await person.apiKey({ scopes: ['files:read'] }))
    expect(refused.status).toBe(403)
    expect((await failureOf(refused)).message).toContain('ai')
  })

  it('[AUTH37] a key of every scope, of the administrator even, reaches nothing of /api/auth but socket tickets and what needs no credential', async () => {
    const headers = { 'x-api-key': await admin.apiKey({ scopes: [...scopes] }) }
    for (const endpoint of endpoints.filter(
      ({ path, access }) => path.startsWith('/api/auth') && access !== 'public' && access !== 'user',
    )) {
      const path = endpoint.path.replace(':apiKeyId', 'key_01JD8XQ4ZK3V5N6P7R8S9T0ABC')
      const { method } = endpoint
      const json = { ...headers, 'content-type': 'application/json' }
      const response = await fetch(server.url + path, {
        method,
        headers: method === 'POST' ? json : headers,
        ...(method === 'POST' ? { body: JSON.stringify({ name: 'x', scopes: ['ai'] }) } : {}),
      })
      expect([endpoint.name, response.status]).toEqual([endpoint.name, 403])
    }
    expect(await dataOf(await get(getSession.path, headers))).toBeNull()
  })

  it('[AUTH35, AUTH38] a key is revoked by its owner alone, and ends at once', async () => {
    const owner = await signUpPerson(server.url)
    const key = await owner.apiKey()
    const { items } = await dataOf<{ items: ApiKey[] }>(await get(keysPath, owner.headers))
    const [{ id } = { id: '' }] = items
    expect(items).toHaveLength(1)
    expect(await statusWith({ 'x-api-key': key })).toBe(403)
    const revoke = (who: Person) =>
      fetch(`${server.url}${keysPath}/${id}`, { method: 'DELETE', headers: who.headers })
    expect((await revoke(admin)).status).toBe(404)
    expect(await statusWith({ 'x-api-key': key })).toBe(403)
    expect(await dataOf(await revoke(owner))).toEqual({ id })
    expect(await statusWith({ 'x-api-key': key })).toBe(401)
    expect((await revoke(owner)).status).toBe(404)
    expect(await dataOf(await get(keysPath, owner.headers))).toEqual({ items: [], nextCursor: null })
  })
})

describe('credentials of a request', () => {
  it.each([
    ['Bearer'],
    ['Bearer '],
    ['bearer a b'],
    ['Bearer a.b'],
    ['Bearer ...'],
    ['Basic dXNlcjpwYXNz'],
    ['Bearer null'],
    ['Bearer undefined'],
    ['Negotiate x'],
  ])('[AUTH41] Authorization `%s` is 401', async (authorization) => {
    const response = await get(keysPath, { authorization })
    expect([response.status, (await failureOf(response)).code]).toEqual([401, 'UNAUTHORIZED'])
  })

  it('[AUTH41] bytes that are no text, and headers of 64 KB, are refused and the server goes on', async () => {
    expect(await rawStatus(['Authorization: Bearer \xff\xfe.\xc3\x28.\x80'])).toBe(401)
    expect(await rawStatus(['x-api-key: \xff\xfe\x80'])).toBe(401)
    // Node's own limit of 16 KB on all headers answers 431 before us, or has closed the connection by then.
    expect(['reset', 431]).toContain(await rawStatus([`Authorization: Bearer ${'a'.repeat(65_536)}`]))
    expect(await rawStatus([`Authorization: Bearer ${'a'.repeat(12_000)}.b.c`])).toBe(401)
    expect(await statusWith(person.headers)).toBe(200)
  })

  it('[AUTH42] a repeated header is 401, also with the same good value', async () => {
    const [token, key] = [await person.token(), await person.apiKey()]
    expect(await rawStatus([`Authorization: Bearer ${token}`])).toBe(200)
    expect(await rawStatus([`Authorization: Bearer ${token}`, `authorization: Bearer ${token}`])).toBe(401)
    expect(await rawStatus([`x-api-key: ${key}`, `X-API-KEY: ${key}`])).toBe(401)
    expect(await rawStatus([`Cookie: ${person.cookie}`, `Cookie: ${person.cookie}`])).toBe(401)
    expect(await rawStatus([`Cookie: ${person.cookie}; ${admin.cookie}`])).toBe(401)
    expect(await rawStatus([`Cookie: a=b; ${person.cookie}`])).toBe(200)
  })

  it('[AUTH43] credentials of two users are 401; of one user, the least counts', async () => {
    const [token, key] = [await person.token(), await person.apiKey()]
    expect(await statusWith({ ...bearer(token), cookie: admin.cookie })).toBe(401)
    expect(await statusWith({ 'x-api-key': key, cookie: admin.cookie })).toBe(401)
    expect(await statusWith({ 'x-api-key': key, ...bearer(await admin.token()) })).toBe(401)
    expect(await statusWith({ ...bearer(token), cookie: person.cookie })).toBe(200)
    expect(await statusWith({ 'x-api-key': key, cookie: person.cookie })).toBe(403)
    const tokenFromToken = await get('/api/auth/token', { ...bearer(token), cookie: person.cookie })
    expect(tokenFromToken.status).toBe(403)
  })

  it('[AUTH43] one bad credential spoils a good one', async () => {
    expect(await statusWith({ ...bearer('a.b.c'), cookie: person.cookie })).toBe(401)
    expect(await statusWith({ 'x-api-key': 'x', cookie: person.cookie })).toBe(401)
    expect(await statusWith({ ...bearer(await person.token()), cookie: 'atelier.session=x' })).toBe(401)
  })
})

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function nextInAlphabet(character: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return alphabet.charAt(alphabet.indexOf(character) + 1)
}

/** Sends exactly these header lines, as latin-1, and reads the status. */
function rawStatus(lines: string[]): Promise<number | 'reset'> {
  const { hostname, port, host } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.on('close', () => resolve(answer === '' ? 'reset' : Number(answer.split(' ')[1])))
    const head = [`GET ${keysPath} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...lines, '', '']
    socket.write(Buffer.from(head.join('\r\n'), 'latin1'))
  })
}
