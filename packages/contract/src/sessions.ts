import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { WorkspaceId } from './ids.ts'

const tag = 'Workspaces'

export const SessionState = z.enum(['stopped', 'starting', 'running', 'stopping', 'failed'])
export type SessionState = z.infer<typeof SessionState>

/** What keeps a workspace running. An open socket is not among them: a forgotten tab must not. */
export const ActivityKind = z.enum(['request', 'terminal', 'foreground-job', 'command', 'editor', 'preview'])
export type ActivityKind = z.infer<typeof ActivityKind>

export const WorkspaceStatus = z.object({
  workspaceId: WorkspaceId,
  desired: z.enum(['running', 'stopped']).describe('what was asked for'),
  state: SessionState.describe('what is observed'),
  reason: z.string().describe('why it is in this state, in words'),
  since: z.iso.datetime(),
  isolation: z.object({
    runtime: z.enum(['process', 'docker', 'kubernetes', 'none']),
    kind: z.enum(['none', 'namespace', 'container', 'gvisor', 'microvm']).describe('in force, by self-test'),
    available: z.boolean().describe('false: no workspace can be started on this server'),
    reason: z.string().nullable().describe('why not, and what helps'),
    limits: z.array(z.string()).describe('limits that were exceeded on purpose and held'),
    missing: z.array(z.string()).describe('what this machine cannot enforce, and why'),
  }),
  activity: z.array(z.object({ kind: ActivityKind, detail: z.string(), at: z.iso.datetime() })),
  stopsAt: z.iso.datetime().nullable().describe('when it stops if nothing more happens'),
  usage: z.object({ memoryBytes: z.number().nullable(), processes: z.number().nullable() }).nullable(),
})
export type WorkspaceStatus = z.infer<typeof WorkspaceStatus>

const params = z.strictObject({ workspaceId: WorkspaceId })

export const startWorkspace = endpoint({
  name: 'startWorkspace',
  method: 'POST',
  path: '/api/workspaces/:workspaceId/start',
  tag,
  summary: 'Start a workspace’s sandbox and wait until it answers (editor); at once where it runs',
  access: 'user',
  scope: 'sessions',
  rate: 'standard',
  params,
  data: WorkspaceStatus,
  message: 'Workspace running',
})

export const stopWorkspace = endpoint({
  name: 'stopWorkspace',
  method: 'POST',
  path: '/api/workspaces/:workspaceId/stop',
  tag,
  summary: 'Stop a workspace’s sandbox and all that runs in it (editor); its files stay',
  access: 'user',
  scope: 'sessions',
  rate: 'standard',
  params,
  data: WorkspaceStatus,
  message: 'Workspace stopped',
})

export const getWorkspaceStatus = endpoint({
  name: 'getWorkspaceStatus',
  method: 'GET',
  path: '/api/workspaces/:workspaceId/status',
  tag,
  summary: 'State of a workspace’s sandbox, why, the isolation in force and what keeps it running',
  access: 'user',
  scope: 'workspaces:read',
  rate: 'standard',
  params,
  data: WorkspaceStatus,
  message: 'Status read',
})
