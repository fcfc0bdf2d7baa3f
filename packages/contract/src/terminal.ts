import { z } from 'zod'
import { WorkspacePath } from './agent-files.ts'
import { endpoint } from './endpoint.ts'
import { TerminalId, UserId, WorkspaceId } from './ids.ts'
import { socket } from './socket.ts'
import {
  maxTerminalColumns,
  maxTerminalInputBytes,
  maxTerminalRows,
  TerminalExit,
} from './terminal-frames.ts'

const tag = 'Sessions'

/** Terminals open at once; exited ones that nobody has closed yet give way. */
export const terminalLimits = {
  /** of one user, in all workspaces */
  perUser: 50,
  /** of one workspace; the agent itself refuses the 65th */
  perWorkspace: 50,
  /** on one server */
  perServer: 500,
  /** connections that look at one terminal */
  viewers: 16,
  /** milliseconds a terminal lives that nobody looks at */
  detachedMilliseconds: 30 * 60_000,
  /** milliseconds an exited terminal can still be looked at */
  exitedMilliseconds: 5 * 60_000,
} as const

const Columns = z.number().int().min(1).max(maxTerminalColumns)
const Rows = z.number().int().min(1).max(maxTerminalRows)
const Argument = z
  .string()
  .max(32_768)
  .regex(/^[^\0]*$/, 'must not contain NUL')

export const TerminalState = z.enum(['starting', 'attached', 'detached', 'exited'])
export type TerminalState = z.infer<typeof TerminalState>

export const Terminal = z.object({
  id: TerminalId,
  workspaceId: WorkspaceId,
  state: TerminalState,
  title: z.string().describe('what the program in it calls itself; empty until it does'),
  command: z.array(z.string()).nullable().describe('null: the login shell'),
  cwd: z.string().describe('where it was started, relative to the root of the workspace'),
  cols: Columns,
  rows: Rows,
  viewers: z.number().int().describe('connections that look at it now'),
  createdBy: UserId,
  createdAt: z.iso.datetime(),
  closesAt: z.iso
    .datetime()
    .nullable()
    .describe('when it is closed if nobody attaches; null while somebody looks'),
  exit: TerminalExit.nullable(),
})
export type Terminal = z.infer<typeof Terminal>

export const createTerminal = endpoint({
  name: 'createTerminal',
  method: 'POST',
  path: '/api/terminal/session',
  tag,
  summary: 'Open a terminal in a workspace, starting its sandbox if need be (editor)',
  access: 'user',
  scope: 'sessions',
  rate: 'standard',
  body: z.strictObject({
    workspaceId: WorkspaceId,
    cols: Columns.default(80),
    rows: Rows.default(24),
    cwd: WorkspacePath.default(''),
    command: z.array(Argument).min(1).max(200).optional().describe('the login shell where absent'),
  }),
  data: Terminal,
  status: 201,
  message: 'Terminal opened',
})

export const listTerminals = endpoint({
  name: 'listTerminals',
  method: 'GET',
  path: '/api/terminal/session',
  tag,
  summary: 'The terminals of a workspace (editor), one of them, or all that the caller opened',
  access: 'user',
  scope: 'sessions',
  rate: 'standard',
  query: z.strictObject({ workspaceId: WorkspaceId.optional(), id: TerminalId.optional() }),
  data: z.object({ items: z.array(Terminal), nextCursor: z.null() }),
  message: 'Terminals listed',
})

export const closeTerminal = endpoint({
  name: 'closeTerminal',
  method: 'DELETE',
  path: '/api/terminal/session',
  tag,
  summary: 'Close a terminal: hangs up on what runs in it (editor)',
  access: 'user',
  scope: 'sessions',
  rate: 'standard',
  query: z.strictObject({ id: TerminalId }),
  data: z.object({ id: TerminalId }),
  message: 'Terminal closed',
})

/** Binary messages of `terminal-frames.ts`, both ways. */
export const terminalSocket = socket({
  name: 'terminal',
  path: '/api/terminal/ws',
  tag,
  summary: 'A view of one terminal; `seq`: where an earlier view of the same page ended',
  scope: 'sessions',
  query: z.strictObject({
    sessionId: TerminalId,
    seq: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  }),
  maxMessageBytes: maxTerminalInputBytes + 1,
})
