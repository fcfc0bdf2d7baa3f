import type { ActivityKind, CodeServerSession } from '@atelier/contract'
import { AppError, notFound } from '../../base/app-error.ts'
import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/ids.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import { openingAddress } from '../../platform/proxied/content-entry.ts'
import type { ContentNames } from '../../platform/proxied/content-names.ts'
import type { ContentTarget } from '../../platform/proxied/content-server.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'
import { dialAgent } from '../../platform/runtime/dial-agent.ts'
import { type EditorProcess, startEditorProcess } from './editor-session.ts'

/** How often idle sessions are looked for. */
const idleCheckMilliseconds = 15_000

/**
 * The workbench of a forgotten tab acknowledges its connection every few seconds in messages of about 20 bytes; what a
 * person does in it is larger.
 */
const keepAliveBytes = 64

/** How people install it. */
const installCommand = 'npm run install:code-server'

/** code-server sessions of this node: one a workspace, started on demand, stopped when nobody uses it. */
export interface EditorSessions extends AsyncDisposable {
  /** The session of a workspace, started where there is none. Throws SERVICE_UNAVAILABLE where it is not installed. */
  start(scope: WorkspaceScope, host: string | undefined): Promise<CodeServerSession>
  list(host: string | undefined): CodeServerSession[]
  workspaceOf(id: string): string | undefined
  stop(id: string): void
  /** What its content host serves; `null`: it has ended. */
  target(id: string): ContentTarget | null
  /** Looks once for sessions to stop; happens by itself every few seconds. */
  stopIdle(): void
}

export interface EditorSessionsOptions {
  sessions: {
    use(scope: WorkspaceScope, activity: { kind: ActivityKind; detail: string }): Promise<AgentClient>
    touch(workspaceId: string, activity: { kind: ActivityKind; detail: string }): void
  }
  names: ContentNames
  installed(): boolean
  /** milliseconds without activity after which a session stops */
  idleMilliseconds: number
  clock: Clock
  logger: { info(fields: object, message: string): void }
}

interface Entry {
  readonly id: string
  readonly workspaceId: string
  readonly startedAt: number
  usedAt: number
  phase: { state: 'starting'; ready: Promise<EditorProcess> } | { state: 'running'; process: EditorProcess }
}

export function createEditorSessions(options: EditorSessionsOptions): EditorSessions {
  const { sessions, names, clock, logger, idleMilliseconds } = options
  const entries = new Map<string, Entry>()
  const idleCheck = setInterval(stopIdle, idleCheckMilliseconds)
  idleCheck.unref()

  function ofWorkspace(workspaceId: string): Entry | undefined {
    return [...entries.values()].find((entry) => entry.workspaceId === workspaceId)
  }

  function begin(scope: WorkspaceScope): Entry {
    const id = newId('codeServer')
    const { workspaceId } = scope
    const ready = launch(scope, id)
    const now = clock()
    const entry: Entry = { id, workspaceId, startedAt: now, usedAt: now, phase: { state: 'starting', ready } }
    entries.set(id, entry)
    ready.then(
      (process) => run(entry, process),
      () => entries.delete(id),
    )
    return entry
  }

  async function launch(scope: WorkspaceScope, id: string): Promise<EditorProcess> {
    const agent = await sessions.use(scope, { kind: 'editor', detail: 'code-server was opened' })
    return startEditorProcess(agent, id)
  }

  function run(entry: Entry, process: EditorProcess): void {
    // It was stopped while it started.
    if (!entries.has(entry.id)) {
      process.stop()
      return
    }
    entry.phase = { state: 'running', process }
    void process.ended.then((reason) => {
      if (entries.delete(entry.id))
        logger.info({ workspaceId: entry.workspaceId, reason }, 'editor session ended')
    })
  }

  function stop(id: string): void {
    const phase = entries.get(id)?.phase
    entries.delete(id)
    if (phase?.state === 'running') phase.process.stop()
  }

  function stopIdle(): void {
    for (const { id, usedAt } of entries.values()) if (clock() - usedAt >= idleMilliseconds) stop(id)
  }

  function describe(entry: Entry, host: string | undefined): CodeServerSession {
    const origin = names.originOf(names.labelOf({ kind: 'editor', sessionId: entry.id }), host)
    if (origin === null) throw noOrigin()
    return {
      id: entry.id,
      workspaceId: entry.workspaceId,
      url: openingAddress(origin, host, '/'),
      status: entry.phase.state,
      startedAt: new Date(entry.startedAt).toISOString(),
      stopsAt: new Date(entry.usedAt + idleMilliseconds).toISOString(),
    }
  }

  function used(entry: Entry): void {
    entry.usedAt = clock()
    sessions.touch(entry.workspaceId, { kind: 'editor', detail: 'work in code-server' })
  }

  return {
    async start(scope, host) {
      if (!options.installed()) throw notInstalled()
      if (names.originOf('editor', host) === null) throw noOrigin()
      const entry = ofWorkspace(scope.workspaceId) ?? begin(scope)
      if (entry.phase.state === 'starting') await entry.phase.ready
      if (!entries.has(entry.id)) throw endedAtStart()
      used(entry)
      return describe(entry, host)
    },
    list: (host) => [...entries.values()].map((entry) => describe(entry, host)),
    workspaceOf: (id) => entries.get(id)?.workspaceId,
    stop(id) {
      if (!entries.has(id)) throw notFound('Editor session')
      stop(id)
    },
    target(id) {
      const entry = entries.get(id)
      if (!entry) return null
      return {
        workspaceId: entry.workspaceId,
        least: 'editor',
        stripAuthorization: true,
        used({ bytes, upgraded }) {
          if (!upgraded || bytes > keepAliveBytes) used(entry)
        },
        async connect() {
          const { agent, socketPath } =
            entry.phase.state === 'running' ? entry.phase.process : await entry.phase.ready
          return dialAgent(agent, { kind: 'unix', path: socketPath })
        },
      }
    },
    stopIdle,
    async [Symbol.asyncDispose]() {
      clearInterval(idleCheck)
      for (const id of [...entries.keys()]) stop(id)
    },
  }
}

function notInstalled(): AppError {
  return new AppError(
    'SERVICE_UNAVAILABLE',
    `code-server is not installed on this server: \`${installCommand}\``,
    {
      details: { command: installCommand },
    },
  )
}

function endedAtStart(): AppError {
  return new AppError('CONFLICT', 'The editor session was stopped while it started; start it again')
}

function noOrigin(): AppError {
  return new AppError(
    'SERVICE_UNAVAILABLE',
    'Editors need a host name of their own: set ATELIER_PREVIEW_DOMAIN, or open this server on localhost',
  )
}
