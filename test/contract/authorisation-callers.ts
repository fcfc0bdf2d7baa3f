import {
  addWorkspaceMember,
  createWorkspace,
  type EndpointShape,
  importIntoWorkspace,
  type Scope,
  scopes,
  type WorkspaceRole,
} from '@atelier/contract'
import { type Person, signUpPerson } from '@atelier/testkit'

/** Every kind of caller that an endpoint can meet. The last six stand for the owner of the workspace. */
export const callerNames = [
  'nobody',
  'bad token',
  'bad key',
  'stranger',
  'administrator',
  'viewer',
  'editor',
  'owner',
  'owner by token',
  'key',
  'key without the scope',
  'key of another workspace',
] as const
export type CallerName = (typeof callerNames)[number]

export interface Caller {
  name: CallerName
  /** `null`: no account stands behind the credential */
  person: Person | null
  headers: Record<string, string>
}

/** A workspace and who is in it. */
export interface Place {
  workspaceId: string
  /** a member with the role viewer who makes no request */
  bystander: Person
}

export interface Cast {
  owner: Person
  stranger: Person
  caller(name: CallerName, endpoint: EndpointShape): Promise<Caller>
  /** a workspace of its own for a request that changes it */
  makePlace(): Promise<Place>
}

/** Signs up everybody. The administrator is a member of nothing: administering is not reading other people's code. */
export async function assembleCast(url: string): Promise<Cast> {
  const administrator = await signUpPerson(url, { name: 'Administrator' })
  const [owner, editor, viewer, bystander, stranger] = await Promise.all([
    signUpPerson(url, { name: 'Owner' }),
    signUpPerson(url, { name: 'Editor' }),
    signUpPerson(url, { name: 'Viewer' }),
    signUpPerson(url, { name: 'Bystander' }),
    signUpPerson(url, { name: 'Stranger' }),
  ])
  const ask = askAs(url, owner)
  const people = { administrator, owner, editor, viewer, stranger }
  const elsewhere = await ask(createWorkspace, {}, { name: 'Elsewhere' })
  const credentials = createCredentials(owner, String(elsewhere.id))
  return {
    owner,
    stranger,
    async caller(name, endpoint): Promise<Caller> {
      if (name === 'nobody') return { name, person: null, headers: {} }
      if (name === 'bad token') return { name, person: null, headers: { authorization: 'Bearer a.b.c' } }
      if (name === 'bad key') return { name, person: null, headers: { 'x-api-key': 'atl_x' } }
      if (name in people) {
        const person = people[name as keyof typeof people]
        return { name, person, headers: person.headers }
      }
      return { name, person: owner, headers: await credentials(name, endpoint) }
    },
    async makePlace() {
      const workspaceId = String((await ask(createWorkspace, {}, { name: 'Place' })).id)
      const members: [Person, WorkspaceRole][] = [
        [editor, 'editor'],
        [viewer, 'viewer'],
        [bystander, 'viewer'],
      ]
      for (const [{ email }, role] of members) await ask(addWorkspaceMember, { workspaceId }, { email, role })
      return { workspaceId, bystander }
    },
  }
}

/** The owner's tokens and keys, each made once. */
function createCredentials(owner: Person, elsewhere: string) {
  const made = new Map<string, Promise<string>>()
  const once = (what: string, make: () => Promise<string>) => {
    const existing = made.get(what) ?? make()
    made.set(what, existing)
    return existing
  }
  return async (name: CallerName, { scope }: EndpointShape): Promise<Record<string, string>> => {
    if (name === 'owner by token') {
      return { authorization: `Bearer ${await once('token', () => owner.token())}` }
    }
    if (name === 'key of another workspace') {
      return { 'x-api-key': await once(name, () => owner.apiKey({ workspaceIds: [elsewhere] })) }
    }
    if (name === 'key') return { 'x-api-key': await once(name, () => owner.apiKey()) }
    const others = scopes.filter((held): held is Scope => held !== scope)
    return { 'x-api-key': await once(`without ${scope}`, () => owner.apiKey({ scopes: others })) }
  }
}

function askAs(url: string, person: Person) {
  return async (endpoint: EndpointShape, params: Record<string, string>, body: unknown) => {
    const response = await sendRequest(url, endpoint, { params, body }, person.headers)
    if (!response.ok)
      throw new Error(`${endpoint.name} answered ${response.status}: ${await response.text()}`)
    return ((await response.json()) as { data: Record<string, unknown> }).data
  }
}

/** Starts an import of one small file and answers its job. */
export async function startImport(url: string, owner: Person, workspaceId: string): Promise<string> {
  const form = new FormData()
  form.append('files', new File(['export const one = 1\n'], 'one.ts'))
  const parts = { params: { workspaceId }, form }
  const response = await sendRequest(url, importIntoWorkspace, parts, owner.headers)
  const { data } = (await response.json()) as { data: { job: { id: string } } }
  return data.job.id
}

export interface RequestParts {
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  form?: FormData
}

export function sendRequest(
  url: string,
  { method, path }: EndpointShape,
  { params = {}, query, body, form }: RequestParts,
  headers: Record<string, string>,
): Promise<Response> {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const target = url + filled + (query ? `?${new URLSearchParams(query)}` : '')
  if (form) return fetch(target, { method, headers, body: form })
  if (body === undefined) return fetch(target, { method, headers, redirect: 'manual' })
  const json = { ...headers, 'content-type': 'application/json' }
  return fetch(target, { method, headers: json, body: JSON.stringify(body) })
}
