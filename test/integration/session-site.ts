import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '@atelier/client'
import {
  createSocketTicket,
  createTerminal,
  createWorkspace,
  decodeTerminalServerMessage,
  encodeTerminalClientMessage,
  getWorkspaceStatus,
  startWorkspace,
  type WorkspaceStatus,
} from '@atelier/contract'
import type { Person } from '@atelier/testkit'
import { expect } from 'vitest'
import { pidsOf, processesOf } from './runtime-support/host-processes.ts'

/** A workspace of a person on a server, and what of it is on this machine. */
export interface SessionSite {
  readonly workspaceId: string
  /** where its path parameter goes */
  readonly params: { params: { workspaceId: string } }
  start(): Promise<WorkspaceStatus>
  status(): Promise<WorkspaceStatus>
  /** Waits until it is in a state. */
  becomes(state: WorkspaceStatus['state']): Promise<void>
  readonly directory: string
  /** processes of its sandbox on this machine; the workspace must have a host user of its own */
  processes(): number
  pidsOfAgent(): number[]
}

export async function openSession(
  server: { url: string; dataDirectory: string },
  person: { headers: Record<string, string> },
): Promise<SessionSite & { api: Client }> {
  const api = createClient({ baseUrl: server.url, headers: person.headers, validateAnswers: true })
  const { id } = await api.call(createWorkspace, { body: { name: 'Session' } })
  return { api, ...sessionOf(id, () => api, server.dataDirectory) }
}

export function sessionOf(workspaceId: string, api: () => Client, dataDirectory: string): SessionSite {
  const params = { params: { workspaceId } }
  const directory = join(dataDirectory, 'workspaces', workspaceId)
  const user = () => statSync(join(directory, 'home')).uid
  const status = () => api().call(getWorkspaceStatus, params)
  return {
    workspaceId,
    params,
    directory,
    status,
    start: () => api().call(startWorkspace, params),
    becomes: async (state) => {
      await expect.poll(async () => (await status()).state, { timeout: 40_000 }).toBe(state)
    },
    processes: () => processesOf(user()).processes,
    pidsOfAgent: () => pidsOf(user(), '/opt/node/bin/node'),
  }
}

/** A terminal somebody looks at, as the page does. */
export interface OpenTerminal {
  readonly id: string
  type(text: string): void
  output(): string
  /** the socket's close code, once it is closed */
  closed(): number | null
}

export async function openTerminal(
  url: string,
  { workspaceId, person, command }: { workspaceId: string; person: Person; command?: string[] },
): Promise<OpenTerminal> {
  const api = createClient({ baseUrl: url, headers: person.headers })
  const { id } = await api.call(createTerminal, { body: { workspaceId, ...(command ? { command } : {}) } })
  const { ticket } = await api.call(createSocketTicket, {})
  const address = new URL(`/api/terminal/ws?${new URLSearchParams({ sessionId: id, ticket })}`, url)
  address.protocol = 'ws:'
  const socket = new WebSocket(address)
  socket.binaryType = 'arraybuffer'
  let output = ''
  let closed: number | null = null
  socket.addEventListener('message', ({ data }) => {
    const message = decodeTerminalServerMessage(new Uint8Array(data as ArrayBuffer))
    if (message.type === 'data' || message.type === 'snapshot')
      output += Buffer.from(message.bytes).toString('utf8')
  })
  socket.addEventListener('close', ({ code }) => {
    closed = code
  })
  await expect.poll(() => socket.readyState).toBe(WebSocket.OPEN)
  return {
    id,
    type: (text) => socket.send(encodeTerminalClientMessage({ type: 'input', bytes: Buffer.from(text) })),
    output: () => output,
    closed: () => closed,
  }
}

/** Names of what is in a directory; none where there is no such directory. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
