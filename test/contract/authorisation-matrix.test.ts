import {
  ApiKey,
  createTerminal,
  type EndpointShape,
  endpoints,
  FailureEnvelope,
  workspaceRoles,
} from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noBubblewrap } from '../integration/runtime-support/runtimes.ts'
import {
  assembleCast,
  type Caller,
  type CallerName,
  type Cast,
  callerNames,
  type Place,
  sendRequest,
  startImport,
} from './authorisation-callers.ts'
import { type Row, rows, type Subject } from './authorisation-rows.ts'

const noSandbox = noBubblewrap()

let server: TestServer
let cast: Cast
let shared: Place & { jobId: string }
let account: Subject['account']

beforeAll(async () => {
  server = await startTestServer()
  cast = await assembleCast(server.url)
  const place = await cast.makePlace()
  shared = { ...place, jobId: await startImport(server.url, cast.owner, place.workspaceId) }
  const { email, password } = await signUpPerson(server.url)
  account = { email, password }
})
afterAll(() => server[Symbol.asyncDispose]())

const codes: Record<number, string> = { 401: 'UNAUTHORIZED', 403: 'FORBIDDEN', 404: 'NOT_FOUND' }

/** The status that a caller must get: 'success', or why not. Nothing here depends on what the server does. */
function expected(endpoint: EndpointShape, row: Row, caller: CallerName): 'success' | number {
  const { access, scope } = endpoint
  if (access === 'public') return 'success'
  if (caller === 'nobody' || caller.startsWith('bad ')) return 401
  if (caller.startsWith('key')) {
    if (access !== 'user') return 403
    if (caller === 'key without the scope' && scope !== 'any') return 403
  }
  if (access === 'cookie' && caller === 'owner by token') return 403
  if (access === 'admin' && caller !== 'administrator') return 403
  return row.except?.[caller] ?? expectedInWorkspace(row, caller)
}

function expectedInWorkspace({ least }: Row, caller: CallerName): 'success' | number {
  if (least === undefined) return 'success'
  if (caller === 'stranger' || caller === 'administrator' || caller === 'key of another workspace') return 404
  const role = workspaceRoles.find((one) => one === caller) ?? 'owner'
  return workspaceRoles.indexOf(role) < workspaceRoles.indexOf(least) ? 403 : 'success'
}

async function subjectOf(row: Row, caller: Caller): Promise<Subject> {
  const place = row.consumes === 'workspace' ? await cast.makePlace() : shared
  return {
    caller,
    workspaceId: place.workspaceId,
    memberId: place.bystander.user.id,
    jobId: shared.jobId,
    account,
    terminalId: row.consumes === 'terminal' ? await openTerminal(cast.owner, place.workspaceId) : '',
    apiKeyId: row.consumes === 'api-key' ? await apiKeyOf(caller) : '',
  }
}

async function openTerminal({ headers }: Person, workspaceId: string): Promise<string> {
  const body = { workspaceId, command: ['/bin/sleep', '60'] }
  const response = await sendRequest(server.url, createTerminal, { body }, headers)
  const { data } = (await response.json()) as { data: { id: string } }
  return data.id
}

async function apiKeyOf({ person }: Caller): Promise<string> {
  const { headers, apiKey } = person ?? cast.owner
  const key = await apiKey()
  const response = await fetch(`${server.url}/api/auth/api-keys`, { headers })
  const { data } = (await response.json()) as { data: { items: unknown[] } }
  const found = data.items.map((item) => ApiKey.parse(item)).find(({ prefix }) => key.startsWith(prefix))
  if (!found) throw new Error('the key that was just made is not listed')
  return found.id
}

/** A session that may end, where the request ends it. */
async function headersOf(row: Row, caller: Caller): Promise<Record<string, string>> {
  if (row.consumes !== 'session' || !caller.person || !('cookie' in caller.headers)) return caller.headers
  return (await caller.person.signInAgain()).headers
}

it('[AUTH50] every endpoint of the contract has a row, and every row an endpoint', () => {
  expect(Object.keys(rows)).toEqual(endpoints.map(({ name }) => name))
})

describe.each(endpoints.map((endpoint) => [endpoint.name, endpoint] as const))('%s', (name, endpoint) => {
  const row = rows[name]
  if (!row) return
  it
    .skipIf(row.needsSandbox && noSandbox)
    .each(callerNames.map((caller) => [caller, expected(endpoint, row, caller)] as const))(
    '[AUTH50] for %s: %s',
    async (callerName, outcome) => {
      const caller = await cast.caller(callerName, endpoint)
      const subject = await subjectOf(row, caller)
      const response = await sendRequest(
        server.url,
        endpoint,
        row.request(subject),
        await headersOf(row, caller),
      )
      if (row.isEndless && outcome === 'success') {
        await response.body?.cancel()
        expect(response.status).toBe(200)
        return
      }
      const text = await response.text()
      if (outcome === 'success') {
        expect(row.statuses ?? [endpoint.status ?? 200], text).toContain(response.status)
        return
      }
      expect(response.status, text).toBe(outcome)
      // OpenAI's dialect has no envelope.
      const error = { message: expect.any(String), type: expect.any(String) }
      if (endpoint.path.startsWith('/v1/')) expect(JSON.parse(text)).toMatchObject({ error })
      else expect(FailureEnvelope.parse(JSON.parse(text)).error.code).toBe(codes[outcome])
      expect(text).not.toContain(subject.workspaceId)
    },
  )
})
