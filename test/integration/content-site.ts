import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWorkspace } from '@atelier/contract'
import { openTestDatabase, type Person } from '@atelier/testkit'
import pino from 'pino'
import { authFeature, createIdentity } from '../../packages/server/src/features/auth/index.ts'
import {
  codeServerFeature,
  type EditorSessions,
} from '../../packages/server/src/features/code-server/index.ts'
import { contentFeature } from '../../packages/server/src/features/content/index.ts'
import { previewsFeature } from '../../packages/server/src/features/previews/index.ts'
import {
  createWorkspaceSessions,
  type WorkspaceSessions,
} from '../../packages/server/src/features/sessions/index.ts'
import { type TerminalSessions, terminalFeature } from '../../packages/server/src/features/terminal/index.ts'
import { createWorkspaceGuard } from '../../packages/server/src/features/workspaces/index.ts'
import { mountMemberRoutes } from '../../packages/server/src/features/workspaces/member-routes.ts'
import { createMemberStore } from '../../packages/server/src/features/workspaces/member-store.ts'
import { createMembers } from '../../packages/server/src/features/workspaces/members.ts'
import { mountWorkspaceRoutes } from '../../packages/server/src/features/workspaces/workspace-routes.ts'
import { createWorkspaceStore } from '../../packages/server/src/features/workspaces/workspace-store.ts'
import { createWorkspaces } from '../../packages/server/src/features/workspaces/workspaces.ts'
import { createHttpServer } from '../../packages/server/src/platform/http/http-server.ts'
import { createSocketTickets } from '../../packages/server/src/platform/http/socket-tickets.ts'
import { createSockets } from '../../packages/server/src/platform/http/sockets.ts'
import { grantWorkspaceScope } from '../../packages/server/src/platform/identity/workspace-scope.ts'
import { createContentNames } from '../../packages/server/src/platform/proxied/content-names.ts'
import type { AgentClient } from '../../packages/server/src/platform/runtime/agent-client.ts'
import { createEgress } from '../../packages/server/src/platform/runtime/egress-proxy.ts'
import { createProcessRuntime } from '../../packages/server/src/platform/runtime/process-runtime.ts'
import { defaultWorkspaceLimits } from '../../packages/server/src/platform/runtime/session-runtime.ts'
import { builtAgent } from './runtime-support/agent-program.ts'

/** The parts of the platform that serve workspaces' own programs, with real sandboxes and a clock that a test can move. */
export interface ContentSite extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly sessions: WorkspaceSessions
  readonly editors: EditorSessions
  readonly terminals: TerminalSessions
  /** moves the clock of the server on */
  pass(milliseconds: number): void
  makeWorkspace(person: Person): Promise<string>
  start(workspaceId: string): Promise<AgentClient>
}

const secret = 'a secret of at least 32 characters'
const many = 1_000_000

export async function startContentSite(options: {
  codeServerDirectory: string
  domain?: string
}): Promise<ContentSite> {
  await using stack = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'atelier-content-'))
  // The users of workspaces pass through it.
  execFileSync('chmod', ['755', directory])
  stack.defer(() => rmSync(directory, { recursive: true, force: true }))
  const logger = pino({ level: 'silent' })
  let passed = 0
  const clock = () => Date.now() + passed
  const database = stack.use(await openTestDatabase('pglite'))
  const identity = createIdentity({ database, secret, baseUrl: undefined, clock, logger })
  const names = createContentNames({ domain: options.domain, baseUrl: undefined })
  const http = stack.use(
    createHttpServer({
      frameSource: names.source,
      baseUrl: undefined,
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
  const tickets = createSocketTickets({ clock })
  const sockets = stack.use(
    createSockets({
      authenticate: identity.authenticate,
      redeemTicket: tickets.redeem,
      stillValid: identity.stillValid,
      origins: http.origins,
      logger,
    }),
  )
  const runtime = stack.use(
    createProcessRuntime({
      directory,
      program: { ...builtAgent(), codeServer: options.codeServerDirectory },
      openEgress: createEgress({ logger }),
      logger,
    }),
  )
  const sessions = stack.use(
    createWorkspaceSessions({
      database,
      runtime,
      specOf: (workspaceId) => ({ workspaceId, limits: defaultWorkspaceLimits, egress: null }),
      clock,
      logger,
      idleMilliseconds: 30 * 60_000,
    }),
  )
  const guard = createWorkspaceGuard({ database })
  authFeature({ http, identity, tickets })
  const store = createWorkspaceStore({ database })
  mountWorkspaceRoutes({
    http,
    guard,
    workspaces: createWorkspaces({ store, sandboxes: sessions, jobs: { cancelAll: async () => undefined } }),
  })
  mountMemberRoutes({
    http,
    guard,
    members: createMembers({ store: createMemberStore({ database }), users: identity.users }),
  })
  const previews = previewsFeature({ http, guard, sessions, names })
  const editors = stack.use(
    codeServerFeature({
      http,
      guard,
      sessions,
      names,
      installation: options.codeServerDirectory,
      clock,
      logger,
    }),
  )
  stack.use(
    contentFeature({
      http,
      sockets,
      identity,
      guard,
      names,
      secret,
      find: (name) =>
        name.kind === 'port' ? previews.target(name.workspaceId, name.port) : editors.target(name.sessionId),
    }),
  )
  const { terminals } = stack.use(terminalFeature({ http, sockets, guard, sessions, clock, logger }))
  http.app.server.on('upgrade', sockets.upgrade)
  const url = await http.app.listen({ port: 0, host: '127.0.0.1' })
  const owned = stack.move()
  return {
    url,
    port: Number(new URL(url).port),
    sessions,
    editors,
    terminals,
    pass: (milliseconds) => {
      passed += milliseconds
    },
    async makeWorkspace(person) {
      const response = await fetch(url + createWorkspace.path, {
        method: 'POST',
        headers: { ...person.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Project' }),
      })
      const { data } = (await response.json()) as { data: { id: string } }
      return data.id
    },
    start: (workspaceId) =>
      sessions.use(grantWorkspaceScope({ workspaceId, userId: null, role: 'editor' }), {
        kind: 'request',
        detail: 'a test',
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** One request to a host name that only this server knows; redirects are not followed. */
export function ask(
  site: { port: number },
  wanted: { host: string; path: string; method?: string; headers?: Record<string, string>; body?: string },
): Promise<Answer> {
  const { host, path, method = 'GET', headers = {}, body } = wanted
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port: site.port, path, method, headers: { ...headers, host } },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.once('error', reject)
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(parts).toString('utf8'),
          }),
        )
      },
    )
    outgoing.once('error', reject)
    outgoing.end(body)
  })
}

/** Follows an address as a browser does, with a jar for each host; returns the cookie that opens the content host. */
export async function enter(site: { port: number }, address: string, person: Person): Promise<string> {
  const jar = new Map<string, string>()
  let at = new URL(address)
  for (let hop = 0; hop < 6; hop += 1) {
    const own = at.hostname.endsWith('.localhost')
    const cookie = own ? [...jar].map(([name, value]) => `${name}=${value}`).join('; ') : person.cookie
    const answer = await ask(site, {
      host: at.host,
      path: at.pathname + at.search,
      headers: { cookie, accept: 'text/html' },
    })
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=')
      if (own) jar.set(name, value)
    }
    if (answer.status !== 302 || answer.headers.location === undefined) throw new Error(answer.text)
    const pass = jar.get('atelier.content')
    if (pass !== undefined) return `atelier.content=${pass}`
    at = new URL(answer.headers.location, at)
  }
  throw new Error('the way in does not end')
}
