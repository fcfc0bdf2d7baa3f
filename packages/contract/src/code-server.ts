import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { CodeServerId, WorkspaceId } from './ids.ts'

const tag = 'Sessions'

export const CodeServerSession = z.object({
  id: CodeServerId,
  workspaceId: WorkspaceId,
  url: z.string().describe('opens the editor in the browser that is signed in here'),
  status: z.enum(['starting', 'running']),
  startedAt: z.iso.datetime(),
  stopsAt: z.iso.datetime().describe('when it stops if nobody does anything in it'),
})
export type CodeServerSession = z.infer<typeof CodeServerSession>

export const startCodeServer = endpoint({
  name: 'startCodeServer',
  method: 'POST',
  path: '/api/code-server/session',
  tag,
  summary:
    'Start code-server in a workspace’s sandbox and wait until it answers (editor); where one runs, that one. 503 with the command that installs it where it is not installed',
  access: 'user',
  scope: 'sessions',
  rate: 'standard',
  body: z.strictObject({ workspaceId: WorkspaceId }),
  data: CodeServerSession,
  status: 201,
  message: 'Editor session running',
})

export const listCodeServers = endpoint({
  name: 'listCodeServers',
  method: 'GET',
  path: '/api/code-server/session',
  tag,
  summary: 'The editor session of a workspace (editor), one session, or all that the caller may open',
  access: 'user',
  scope: 'sessions',
  rate: 'standard',
  query: z.strictObject({ workspaceId: WorkspaceId.optional(), id: CodeServerId.optional() }),
  data: z.object({ items: z.array(CodeServerSession), nextCursor: z.null() }),
  message: 'Editor sessions listed',
})

export const stopCodeServer = endpoint({
  name: 'stopCodeServer',
  method: 'DELETE',
  path: '/api/code-server/session',
  tag,
  summary: 'Stop an editor session (editor)',
  access: 'user',
  scope: 'sessions',
  rate: 'standard',
  query: z.strictObject({ id: CodeServerId }),
  data: z.object({ id: CodeServerId }),
  message: 'Editor session stopped',
})
