import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { WorkspacePath } from './files.ts'
import { JobId, UserId, WorkspaceId } from './ids.ts'
import { Job } from './jobs.ts'
import { PageQuery, page } from './paging.ts'

const tag = 'Workspaces'

/** Ascending: each role may do what the ones before it may. */
export const workspaceRoles = ['viewer', 'editor', 'owner'] as const
export const WorkspaceRole = z.enum(workspaceRoles)
export type WorkspaceRole = z.infer<typeof WorkspaceRole>

const WorkspaceName = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')

export const Workspace = z.object({
  id: WorkspaceId,
  name: z.string(),
  role: WorkspaceRole.describe('the role of the caller'),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type Workspace = z.infer<typeof Workspace>

export const WorkspaceMember = z.object({
  userId: UserId,
  name: z.string(),
  email: z.string(),
  role: WorkspaceRole,
})
export type WorkspaceMember = z.infer<typeof WorkspaceMember>

const params = z.strictObject({ workspaceId: WorkspaceId })

export const createWorkspace = endpoint({
  name: 'createWorkspace',
  method: 'POST',
  path: '/api/workspaces',
  tag,
  summary: 'Create a workspace; the caller becomes its owner',
  access: 'user',
  scope: 'workspaces:write',
  rate: 'standard',
  body: z.strictObject({ name: WorkspaceName }),
  data: Workspace,
  status: 201,
  message: 'Workspace created',
})

export const listWorkspaces = endpoint({
  name: 'listWorkspaces',
  method: 'GET',
  path: '/api/workspaces',
  tag,
  summary: 'The workspaces the caller is a member of, newest first',
  access: 'user',
  scope: 'workspaces:read',
  rate: 'standard',
  query: PageQuery,
  data: page(Workspace),
  message: 'Workspaces listed',
})

export const getWorkspace = endpoint({
  name: 'getWorkspace',
  method: 'GET',
  path: '/api/workspaces/:workspaceId',
  tag,
  summary: 'One workspace',
  access: 'user',
  scope: 'workspaces:read',
  rate: 'standard',
  params,
  data: Workspace,
  message: 'Workspace read',
})

export const renameWorkspace = endpoint({
  name: 'renameWorkspace',
  method: 'PATCH',
  path: '/api/workspaces/:workspaceId',
  tag,
  summary: 'Rename a workspace (owner)',
  access: 'user',
  scope: 'workspaces:write',
  rate: 'standard',
  params,
  body: z.strictObject({ name: WorkspaceName }),
  data: Workspace,
  message: 'Workspace renamed',
})

export const deleteWorkspace = endpoint({
  name: 'deleteWorkspace',
  method: 'DELETE',
  path: '/api/workspaces/:workspaceId',
  tag,
  summary: 'Delete a workspace and everything in it (owner)',
  access: 'user',
  scope: 'workspaces:write',
  rate: 'standard',
  params,
  data: z.object({ id: WorkspaceId }),
  message: 'Workspace deleted',
})

export const listWorkspaceMembers = endpoint({
  name: 'listWorkspaceMembers',
  method: 'GET',
  path: '/api/workspaces/:workspaceId/members',
  tag,
  summary: 'Who belongs to a workspace, and with which role',
  access: 'user',
  scope: 'workspaces:read',
  rate: 'standard',
  params,
  data: z.object({ items: z.array(WorkspaceMember), nextCursor: z.null() }),
  message: 'Members listed',
})

export const addWorkspaceMember = endpoint({
  name: 'addWorkspaceMember',
  method: 'POST',
  path: '/api/workspaces/:workspaceId/members',
  tag,
  summary: 'Add a registered person by e-mail (owner)',
  access: 'user',
  scope: 'workspaces:write',
  rate: 'standard',
  params,
  body: z.strictObject({ email: z.email('must be an e-mail address').max(254), role: WorkspaceRole }),
  data: WorkspaceMember,
  status: 201,
  message: 'Member added',
})

const memberParams = z.strictObject({ workspaceId: WorkspaceId, userId: UserId })

export const changeWorkspaceMember = endpoint({
  name: 'changeWorkspaceMember',
  method: 'PATCH',
  path: '/api/workspaces/:workspaceId/members/:userId',
  tag,
  summary: 'Change a role (owner); the last owner stays',
  access: 'user',
  scope: 'workspaces:write',
  rate: 'standard',
  params: memberParams,
  body: z.strictObject({ role: WorkspaceRole }),
  data: WorkspaceMember,
  message: 'Role changed',
})

export const removeWorkspaceMember = endpoint({
  name: 'removeWorkspaceMember',
  method: 'DELETE',
  path: '/api/workspaces/:workspaceId/members/:userId',
  tag,
  summary: 'Remove a member (owner), or leave (oneself); the last owner stays',
  access: 'user',
  scope: 'workspaces:write',
  rate: 'standard',
  params: memberParams,
  data: z.object({ userId: UserId }),
  message: 'Member removed',
})

/** Largest import in bytes: what a person drops on the page, or one archive. */
export const maxImportBytes = 100 * 1024 * 1024

/** A branch or tag as `git clone --branch` takes it; a leading dash would be an option. */
const GitReference = z
  .string()
  .max(200)
  .regex(/^(?!-)(?!.*\.\.)[^\s\p{Cc}~^:?*[\\]+$/u, 'must be the name of a branch or tag')

const GitUrl = z
  .url({
    protocol: /^https$/,
    hostname: z.regexes.domain,
    error: 'must be an https address of a host by name',
  })
  .max(2000)
  .refine((url) => {
    const { username, password, hash, search } = new URL(url)
    return username === '' && password === '' && hash === '' && search === ''
  }, 'must have no credentials, query or fragment')

export const importIntoWorkspace = endpoint({
  name: 'importIntoWorkspace',
  method: 'POST',
  path: '/api/workspaces/:workspaceId/import',
  tag,
  summary:
    'Import one archive (.zip, .tar.gz, .tgz, .tar) or many files named by their relative paths; or clone a Git repository (editor)',
  access: 'user',
  scope: 'files:write',
  rate: 'upload',
  params,
  multipart: z.strictObject({
    stripRoot: z
      .enum(['true', 'false'])
      .default('true')
      .describe('drop the one top folder that all entries share, as archives of a project have'),
  }),
  body: z.strictObject({
    gitUrl: GitUrl.describe('cloned inside the sandbox, from a host that workspaces may reach'),
    branch: GitReference.optional().describe('a branch or tag; the default branch where absent'),
    path: WorkspacePath.default('').describe(
      'a new directory for it; where absent the workspace must be empty',
    ),
  }),
  maxBodyBytes: maxImportBytes,
  data: z.object({ job: Job }),
  status: 202,
  message: 'Import accepted',
})

export const listWorkspaceJobs = endpoint({
  name: 'listWorkspaceJobs',
  method: 'GET',
  path: '/api/workspaces/:workspaceId/jobs',
  tag,
  summary: 'Imports and other long work of a workspace, newest first',
  access: 'user',
  scope: 'workspaces:read',
  rate: 'standard',
  params,
  query: PageQuery,
  data: page(Job),
  message: 'Jobs listed',
})

const jobParams = z.strictObject({ workspaceId: WorkspaceId, jobId: JobId })

export const getWorkspaceJob = endpoint({
  name: 'getWorkspaceJob',
  method: 'GET',
  path: '/api/workspaces/:workspaceId/jobs/:jobId',
  tag,
  summary: 'One job with its progress, and its report when it has ended',
  access: 'user',
  scope: 'workspaces:read',
  rate: 'standard',
  params: jobParams,
  data: Job,
  message: 'Job read',
})

export const watchWorkspaceJob = endpoint({
  name: 'watchWorkspaceJob',
  method: 'GET',
  path: '/api/workspaces/:workspaceId/jobs/:jobId/events',
  tag,
  summary: 'The job at each change of its progress, until it has ended',
  access: 'user',
  scope: 'workspaces:read',
  rate: 'standard',
  params: jobParams,
  events: Job,
  message: 'Job watched',
})

export const cancelWorkspaceJob = endpoint({
  name: 'cancelWorkspaceJob',
  method: 'DELETE',
  path: '/api/workspaces/:workspaceId/jobs/:jobId',
  tag,
  summary: 'Stop a job (editor); what it has already stored stays',
  access: 'user',
  scope: 'files:write',
  rate: 'standard',
  params: jobParams,
  data: Job,
  message: 'Job cancelled',
})
