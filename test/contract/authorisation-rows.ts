import { randomUUID } from 'node:crypto'
import type { WorkspaceRole } from '@atelier/contract'
import type { Caller, CallerName, RequestParts } from './authorisation-callers.ts'

/** What a request may be about. */
export interface Subject {
  caller: Caller
  workspaceId: string
  /** another member of the workspace */
  memberId: string
  /** an import of the workspace */
  jobId: string
  /** an account that nobody else uses */
  account: { email: string; password: string }
  /** a terminal in the workspace; only where a row consumes one */
  terminalId: string
  /** an API key of the caller, or of the owner where the caller has no account; only where a row consumes one */
  apiKeyId: string
}

/**
 * How to make a request that succeeds for whoever is allowed, and, for an endpoint about one workspace, the least role
 * in it that is allowed. The rest of what to expect follows from the endpoint's `access` and `scope`.
 */
export interface Row {
  request: (subject: Subject) => RequestParts
  /** the endpoint is about one workspace */
  least?: WorkspaceRole
  /** it changes or ends what the next request needs: each gets its own */
  consumes?: 'workspace' | 'session' | 'api-key' | 'terminal'
  /** success where the endpoint's own status is not the only one */
  statuses?: readonly number[]
  /** it starts a sandbox, which not every machine can */
  needsSandbox?: true
  /** its answer goes on until the caller leaves */
  isEndless?: true
  /** what a role or scope does not explain */
  except?: Partial<Record<CallerName, number>>
}

const nobodysEditor = 'cs_01JD8XQ4ZK3V5N6P7R8S9T0ABC'
const nothing = () => ({})
const workspace = ({ workspaceId }: Subject) => ({ params: { workspaceId } })
const member = ({ workspaceId, memberId }: Subject) => ({ params: { workspaceId, userId: memberId } })
const job = ({ workspaceId, jobId }: Subject) => ({ params: { workspaceId, jobId } })
const question = 'What is in one.ts?'
const nobodysRun = 'run_01JD8XQ4ZK3V5N6P7R8S9T0ABC'
const nobodysBudget = 'bud_01JD8XQ4ZK3V5N6P7R8S9T0ABC'
const nobodysChat = 'chat_01JD8XQ4ZK3V5N6P7R8S9T0ABC'

function oneFile(fields: Record<string, string>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('files', new File([`export const id = '${randomUUID()}'\n`], 'one.ts'))
  return form
}

/** One row for every endpoint of the contract, in its order. */
export const rows: Record<string, Row> = {
  signUp: {
    request: () => ({
      body: { name: 'New', email: `${randomUUID()}@example.com`, password: 'correct horse battery' },
    }),
  },
  signIn: { request: ({ account }) => ({ body: account }) },
  signOut: { request: nothing, consumes: 'session' },
  getSession: { request: nothing },
  getToken: { request: nothing },
  createSocketTicket: { request: nothing },
  getJwks: { request: nothing },
  createApiKey: { request: () => ({ body: { name: 'New', scopes: ['ai'] } }) },
  listApiKeys: { request: nothing },
  deleteApiKey: { request: ({ apiKeyId }) => ({ params: { apiKeyId } }), consumes: 'api-key' },

  createWorkspace: {
    request: () => ({ body: { name: 'New' } }),
    // It may reach some workspaces; a new one is none of them.
    except: { 'key of another workspace': 403 },
  },
  listWorkspaces: { request: nothing },
  getWorkspace: { least: 'viewer', request: workspace },
  renameWorkspace: {
    least: 'owner',
    request: (subject) => ({ ...workspace(subject), body: { name: 'Renamed' } }),
  },
  deleteWorkspace: { least: 'owner', request: workspace, consumes: 'workspace' },
  startWorkspace: { least: 'editor', request: workspace, needsSandbox: true },
  stopWorkspace: { least: 'editor', request: workspace },
  getWorkspaceStatus: { least: 'viewer', request: workspace },
  listWorkspaceMembers: { least: 'viewer', request: workspace },
  addWorkspaceMember: {
    least: 'owner',
    consumes: 'workspace',
    request: (subject) => ({ ...workspace(subject), body: { email: subject.account.email, role: 'viewer' } }),
  },
  changeWorkspaceMember: {
    least: 'owner',
    consumes: 'workspace',
    request: (subject) => ({ ...member(subject), body: { role: 'editor' } }),
  },
  removeWorkspaceMember: { least: 'owner', request: member, consumes: 'workspace' },
  importIntoWorkspace: {
    least: 'editor',
    request: (subject) => ({ ...workspace(subject), form: oneFile({}) }),
  },
  listWorkspaceJobs: { least: 'viewer', request: workspace },
  getWorkspaceJob: { least: 'viewer', request: job },
  watchWorkspaceJob: { least: 'viewer', request: job },
  // 409: the import had ended before.
  cancelWorkspaceJob: { least: 'editor', request: job, statuses: [200, 409] },

  createTerminal: {
    least: 'editor',
    request: ({ workspaceId }) => ({ body: { workspaceId, command: ['/bin/true'] } }),
    needsSandbox: true,
  },
  listTerminals: { least: 'editor', request: ({ workspaceId }) => ({ query: { workspaceId } }) },
  closeTerminal: {
    least: 'editor',
    request: ({ terminalId }) => ({ query: { id: terminalId } }),
    consumes: 'terminal',
    needsSandbox: true,
  },

  startCodeServer: {
    least: 'editor',
    // It is not installed where the tests look.
    statuses: [503],
    request: ({ workspaceId }) => ({ body: { workspaceId } }),
  },
  listCodeServers: { least: 'editor', request: ({ workspaceId }) => ({ query: { workspaceId } }) },
  stopCodeServer: { statuses: [404], request: () => ({ query: { id: nobodysEditor } }) },
  listWorkspacePorts: { least: 'viewer', request: workspace },
  enterContent: {
    least: 'editor',
    statuses: [302],
    request: ({ workspaceId }) => ({
      query: { name: `8080--${workspaceId.slice(3).toLowerCase()}`, binding: 'x', next: '/' },
    }),
  },

  readFiles: { least: 'viewer', request: ({ workspaceId }) => ({ query: { workspaceId } }) },
  // 404: the import may not have put it there yet.
  readRawFile: {
    least: 'viewer',
    request: ({ workspaceId }) => ({ query: { workspaceId, path: 'one.ts' } }),
    statuses: [200, 404],
    needsSandbox: true,
  },
  createFile: {
    least: 'editor',
    request: ({ workspaceId }) => ({ body: { workspaceId, path: `${randomUUID()}.ts`, content: 'new' } }),
    needsSandbox: true,
  },
  replaceFile: {
    least: 'editor',
    request: ({ workspaceId }) => ({
      body: { workspaceId, path: `${randomUUID()}.ts`, content: 'new', baseRevision: null },
    }),
    needsSandbox: true,
  },
  moveFile: {
    least: 'editor',
    request: ({ workspaceId }) => ({
      body: { workspaceId, from: `${randomUUID()}.ts`, to: `${randomUUID()}.ts` },
    }),
    statuses: [404],
    needsSandbox: true,
  },
  deleteFile: {
    least: 'editor',
    request: ({ workspaceId }) => ({ query: { workspaceId, path: `${randomUUID()}.ts` } }),
    statuses: [404],
    needsSandbox: true,
  },
  changeFiles: {
    least: 'editor',
    request: ({ workspaceId }) => ({
      body: { workspaceId, operations: [{ op: 'create', path: `${randomUUID()}.ts` }] },
    }),
    needsSandbox: true,
  },
  searchFiles: {
    least: 'viewer',
    request: ({ workspaceId }) => ({ query: { workspaceId, query: 'one' } }),
    needsSandbox: true,
  },
  watchFiles: { least: 'viewer', request: workspace, isEndless: true },
  exportWorkspace: { least: 'viewer', request: workspace, needsSandbox: true },
  listModels: { request: nothing },
  chat: {
    least: 'viewer',
    request: ({ workspaceId }) => ({
      body: { messages: [{ role: 'user', content: question }], model: 'local', workspaceId },
    }),
  },
  chatEnhanced: {
    least: 'viewer',
    request: ({ workspaceId }) => ({ body: { message: question, model: 'local', context: { workspaceId } } }),
  },
  chatUnified: {
    least: 'viewer',
    request: ({ workspaceId }) => ({
      body: { messages: [{ role: 'user', content: question }], models: ['local'], workspaceId },
    }),
  },
  chatWithVendor: {
    least: 'viewer',
    request: ({ workspaceId }) => ({
      params: { vendor: 'atelier' },
      body: { messages: [{ role: 'user', content: question }], workspaceId },
    }),
  },
  listProviderHealth: { request: nothing },
  startChatStream: {
    least: 'viewer',
    request: ({ workspaceId }) => ({ body: { message: question, model: 'local', workspaceId } }),
  },
  // Runs and conversations are a person's own; these ids are nobody's.
  resumeChatStream: { request: () => ({ query: { runId: nobodysRun } }), statuses: [404] },
  stopChatStream: { request: () => ({ query: { runId: nobodysRun } }), statuses: [404] },
  readChats: { request: nothing },
  saveChat: {
    least: 'viewer',
    request: ({ workspaceId }) => ({ body: { title: 'New', workspaceId } }),
  },
  renameChat: { request: () => ({ body: { chatId: nobodysChat, title: 'New' } }), statuses: [404] },
  deleteChat: { request: () => ({ query: { chatId: nobodysChat } }), statuses: [404] },
  readUsage: { request: nothing },
  readAllUsage: { request: nothing },
  listBudgets: { request: nothing },
  setBudget: { request: () => ({ body: { subject: 'everyone', period: 'month', cap: '1000' } }) },
  deleteBudget: { request: () => ({ params: { budgetId: nobodysBudget } }), statuses: [404] },
  createChatCompletion: {
    request: () => ({ body: { model: 'local', messages: [{ role: 'user', content: question }] } }),
  },
  listOpenAiModels: { request: nothing },
  // 400: the model is not the one that embeds here.
  createEmbeddings: { request: () => ({ body: { model: 'none', input: 'text' } }), statuses: [400] },
  uploadFiles: { least: 'editor', request: ({ workspaceId }) => ({ form: oneFile({ workspaceId }) }) },
  searchWorkspace: {
    least: 'viewer',
    request: ({ workspaceId }) => ({ body: { query: question, workspaceId } }),
  },
  getIndexState: { least: 'viewer', request: ({ workspaceId }) => ({ query: { workspaceId } }) },

  getHealth: { request: nothing },
  getHealthSimple: { request: nothing },
  getReadiness: { request: nothing },
  getLiveness: { request: nothing },
  listLimits: { request: nothing },
  getOpenApi: { request: nothing },
}
