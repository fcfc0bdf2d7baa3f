import { request } from 'node:http'
import { createSocketTicket, getLiveness, signOut, socketCloseCodes, terminalSocket } from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'

/** No such terminal: a caller who gets in is told so by the socket, with 4404. */
const path = `${terminalSocket.path}?sessionId=term_01JD8XQ4ZK3V5N6P7R8S9T0ABC`

let server: TestServer
let ada: Person

beforeAll(async () => {
  server = await startTestServer()
  ada = await signUpPerson(server.url)
})
afterAll(() => server?.[Symbol.asyncDispose]())

type Outcome = { closed: number } | { status: number; code: string; requestId: string }

/** How an upgrade ends: refused with an answer in the envelope, or opened and closed. */
function open(target: string, headers: Record<string, string> = {}): Promise<Outcome> {
  const socket = new WebSocket(server.url.replace('http', 'ws') + target, { headers })
  return new Promise((resolve, reject) => {
    socket.on('close', (closed) => resolve({ closed }))
    socket.on('unexpected-response', (_request, response) => {
      let text = ''
      response.on('data', (part) => {
        text += String(part)
      })
      response.on('end', () => {
        const { error, requestId } = JSON.parse(text)
        resolve({ status: response.statusCode ?? 0, code: error.code, requestId })
      })
    })
    socket.on('error', reject)
  })
}

const entered = { closed: socketCloseCodes.gone }
const refused = (status: number, code: string) => ({
  status,
  code,
  requestId: expect.stringMatching(/^req_/),
})

async function makeTicket(person: Person): Promise<string> {
  const response = await fetch(server.url + createSocketTicket.path, {
    method: createSocketTicket.method,
    headers: person.headers,
  })
  expect(response.status).toBe(createSocketTicket.status ?? 200)
  return ((await response.json()) as { data: { ticket: string } }).data.ticket
}

it('[SOCK1] an upgrade takes any credential of a request', async () => {
  expect(await open(path, ada.headers)).toEqual(entered)
  expect(await open(path, { authorization: `Bearer ${await ada.token()}` })).toEqual(entered)
  expect(await open(path, { 'x-api-key': await ada.apiKey() })).toEqual(entered)
})

it('[SOCK1] what is refused before the upgrade is an ordinary answer in the envelope', async () => {
  expect(await open(path)).toEqual(refused(401, 'UNAUTHORIZED'))
  expect(await open(path, { authorization: 'Bearer no.such.token' })).toEqual(refused(401, 'UNAUTHORIZED'))
  expect(await open('/api/nothing', ada.headers)).toEqual(refused(404, 'NOT_FOUND'))
  expect(await open(terminalSocket.path, ada.headers)).toEqual(refused(400, 'VALIDATION_ERROR'))
  expect(await open(`${path}&seq=-1`, ada.headers)).toEqual(refused(400, 'VALIDATION_ERROR'))
})

it('[SOCK2] with a cookie an allowed Origin is needed, and a foreign one opens nothing', async () => {
  const { cookie } = ada
  expect(await open(path, { cookie })).toEqual(refused(403, 'FORBIDDEN'))
  const origin = 'https://elsewhere.example'
  expect(await open(path, { cookie, origin })).toEqual(refused(403, 'FORBIDDEN'))
  const authorization = `Bearer ${await ada.token()}`
  expect(await open(path, { authorization, origin })).toEqual(refused(403, 'FORBIDDEN'))
})

it('[SOCK3] a ticket opens one socket in place of the credential it was made with', async () => {
  const ticket = await makeTicket(ada)
  expect(await open(`${path}&ticket=${ticket}`)).toEqual(entered)
  expect(await open(`${path}&ticket=${ticket}`)).toEqual(refused(401, 'UNAUTHORIZED'))
  expect(await open(`${path}&ticket=unknown`)).toEqual(refused(401, 'UNAUTHORIZED'))
})

it('[SOCK3] a ticket ends with its credential', async () => {
  const again = await ada.signInAgain()
  const ticket = await makeTicket(again)
  await fetch(server.url + signOut.path, { method: signOut.method, headers: again.headers })
  expect(await open(`${path}&ticket=${ticket}`)).toEqual(refused(401, 'UNAUTHORIZED'))
})

it('[SOCK4] an API key needs the scope of the socket', async () => {
  const key = await ada.apiKey({ scopes: ['files:read'] })
  expect(await open(path, { 'x-api-key': key })).toEqual(refused(403, 'FORBIDDEN'))
})

it('[SOCK10] a request that offers another upgrade is answered as a plain request', async () => {
  const headers = {
    connection: 'Upgrade, HTTP2-Settings',
    upgrade: 'h2c',
    'http2-settings': 'AAMAAABkAAQAAP__',
  }
  const status = await new Promise((resolve, reject) => {
    request(server.url + getLiveness.path, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('upgrade', () => reject(new Error('it was upgraded')))
      .on('error', reject)
      .end()
  })
  expect(status).toBe(200)
})
