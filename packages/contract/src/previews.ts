import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { WorkspaceId } from './ids.ts'

const tag = 'Sessions'

export const WorkspacePort = z.object({
  port: z.number().int().min(1).max(65_535),
  address: z.string().describe('what the program is bound to, inside the sandbox'),
  url: z
    .string()
    .nullable()
    .describe('shows it to editors who are signed in here; null where this server has no preview domain'),
})
export type WorkspacePort = z.infer<typeof WorkspacePort>

export const listWorkspacePorts = endpoint({
  name: 'listWorkspacePorts',
  method: 'GET',
  path: '/api/workspaces/:workspaceId/ports',
  tag,
  summary: 'Ports that programs in a running workspace listen on; none where it does not run',
  access: 'user',
  scope: 'workspaces:read',
  rate: 'standard',
  params: z.strictObject({ workspaceId: WorkspaceId }),
  data: z.object({ items: z.array(WorkspacePort), nextCursor: z.null() }),
  message: 'Ports listed',
})

export const enterContent = endpoint({
  name: 'enterContent',
  method: 'GET',
  path: '/api/content/enter',
  tag,
  summary:
    'Sends the browser session to a preview or an editor (editor) with a single-use ticket; the way in for `url` of ports and editor sessions',
  access: 'cookie',
  rate: 'standard',
  query: z.strictObject({
    name: z.string().max(63).describe('first label of the host name'),
    binding: z.string().max(200).describe('ties the ticket to the browser that asked'),
    next: z.string().max(8_192).default('/').describe('where to go there'),
  }),
  produces: 'text/html',
  message: 'Sent on',
})
