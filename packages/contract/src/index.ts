import { chat, chatEnhanced, listModels } from './chat.ts'
import { listCodeServers, startCodeServer, stopCodeServer } from './code-server.ts'
import {
  deleteChat,
  readChats,
  renameChat,
  resumeChatStream,
  saveChat,
  startChatStream,
  stopChatStream,
} from './conversations.ts'
import type { EndpointShape } from './endpoint.ts'
import {
  changeFiles,
  createFile,
  deleteFile,
  exportWorkspace,
  moveFile,
  readFiles,
  readRawFile,
  replaceFile,
  searchFiles,
  watchFiles,
} from './files.ts'
import { chatUnified, chatWithVendor, listProviderHealth } from './gateway.ts'
import { getHealth, getHealthSimple, getLiveness, getReadiness } from './health.ts'
import {
  createApiKey,
  createSocketTicket,
  deleteApiKey,
  getJwks,
  getSession,
  getToken,
  listApiKeys,
  signIn,
  signOut,
  signUp,
} from './identity.ts'
import { createChatCompletion, createEmbeddings, listOpenAiModels } from './openai.ts'
import { enterContent, listWorkspacePorts } from './previews.ts'
import { getIndexState, searchWorkspace, uploadFiles } from './retrieval.ts'
import { getOpenApi, listLimits } from './service.ts'
import { getWorkspaceStatus, startWorkspace, stopWorkspace } from './sessions.ts'
import type { SocketShape } from './socket.ts'
import { closeTerminal, createTerminal, listTerminals, terminalSocket } from './terminal.ts'
import { deleteBudget, listBudgets, readAllUsage, readUsage, setBudget } from './usage.ts'
import {
  addWorkspaceMember,
  cancelWorkspaceJob,
  changeWorkspaceMember,
  createWorkspace,
  deleteWorkspace,
  getWorkspace,
  getWorkspaceJob,
  importIntoWorkspace,
  listWorkspaceJobs,
  listWorkspaceMembers,
  listWorkspaces,
  removeWorkspaceMember,
  renameWorkspace,
  watchWorkspaceJob,
} from './workspaces.ts'

/** The whole interface: what the server mounts, OpenAPI describes and the contract tests walk through. */
export const endpoints: readonly EndpointShape[] = [
  signUp,
  signIn,
  signOut,
  getSession,
  getToken,
  createSocketTicket,
  getJwks,
  createApiKey,
  listApiKeys,
  deleteApiKey,
  createWorkspace,
  listWorkspaces,
  getWorkspace,
  renameWorkspace,
  deleteWorkspace,
  startWorkspace,
  stopWorkspace,
  getWorkspaceStatus,
  listWorkspaceMembers,
  addWorkspaceMember,
  changeWorkspaceMember,
  removeWorkspaceMember,
  importIntoWorkspace,
  listWorkspaceJobs,
  getWorkspaceJob,
  watchWorkspaceJob,
  cancelWorkspaceJob,
  createTerminal,
  listTerminals,
  closeTerminal,
  startCodeServer,
  listCodeServers,
  stopCodeServer,
  listWorkspacePorts,
  enterContent,
  readFiles,
  readRawFile,
  createFile,
  replaceFile,
  moveFile,
  deleteFile,
  changeFiles,
  searchFiles,
  watchFiles,
  exportWorkspace,
  listModels,
  chat,
  chatEnhanced,
  chatUnified,
  chatWithVendor,
  listProviderHealth,
  startChatStream,
  resumeChatStream,
  stopChatStream,
  readChats,
  saveChat,
  renameChat,
  deleteChat,
  readUsage,
  readAllUsage,
  listBudgets,
  setBudget,
  deleteBudget,
  createChatCompletion,
  listOpenAiModels,
  createEmbeddings,
  uploadFiles,
  searchWorkspace,
  getIndexState,
  getHealth,
  getHealthSimple,
  getReadiness,
  getLiveness,
  listLimits,
  getOpenApi,
]

/** Every WebSocket of the interface. */
export const sockets: readonly SocketShape[] = [terminalSocket]

export * from './attempts.ts'
export * from './chat.ts'
export * from './code-server.ts'
export * from './conversations.ts'
export * from './endpoint.ts'
export * from './envelope.ts'
export * from './errors.ts'
export * from './files.ts'
export * from './gateway.ts'
export * from './health.ts'
export * from './identity.ts'
export * from './ids.ts'
export * from './jobs.ts'
export * from './models.ts'
export * from './openai.ts'
export * from './openapi.ts'
export * from './paging.ts'
export * from './previews.ts'
export * from './retrieval.ts'
export * from './service.ts'
export * from './sessions.ts'
export * from './socket.ts'
export * from './terminal.ts'
export * from './terminal-frames.ts'
export * from './usage.ts'
export * from './workspaces.ts'
