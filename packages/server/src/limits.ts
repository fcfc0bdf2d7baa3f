import {
  type Limit,
  maxBatchOperations,
  maxExportBytes,
  maxFileBodyBytes,
  maxFileContentBytes,
  maxFileMatches,
  maxImportBytes,
  maxMessageLength,
  maxMessages,
  maxUploadBytes,
  terminalLimits,
} from '@atelier/contract'
import { maxApiKeysPerUser, maxFailuresByAccount, maxFailuresByAddress } from './features/auth/index.ts'
import { maxRunsOfUser } from './features/chat/index.ts'
import {
  maxChangeReaders,
  maxChangeReadersPerUser,
  maxIndexedFiles,
  maxListedEntries,
} from './features/files/index.ts'
import { maxMembers, maxOwnedWorkspaces } from './features/workspaces/index.ts'
import { defaultArchiveLimits } from './platform/archive/archive-entry.ts'
import type { Config } from './platform/config/config.ts'
import { defaultBodyBytes } from './platform/http/http-server.ts'
import { maxFileParts } from './platform/http/multipart.ts'
import { maxSocketsPerUser } from './platform/http/sockets.ts'
import { maxEventStreamsPerUser } from './platform/http/stream-watch.ts'
import { maxActiveJobsPerUser } from './platform/jobs/job-limits.ts'

/** Every named limit in force, for `GET /api/limits`. */
export function limitsInForce({ rateLimits }: Config): Limit[] {
  return [
    rate('standard', rateLimits.standard, 'Requests to standard endpoints'),
    rate('ai', rateLimits.ai, 'Requests to AI endpoints'),
    rate('upload', rateLimits.upload, 'Requests to upload endpoints'),
    rate('probe', probesPerMinute, 'Health probes of one address'),
    rate('static', staticRequestsPerMinute, 'Files of the page, of one address'),
    {
      name: 'body.json',
      value: defaultBodyBytes,
      unit: 'bytes',
      description: 'JSON body, unless the endpoint names its own',
    },
    { name: 'body.import', value: maxImportBytes, unit: 'bytes', description: 'Body of an import' },
    { name: 'body.upload', value: maxUploadBytes, unit: 'bytes', description: 'Body of an upload' },
    { name: 'upload.files', value: maxFileParts, unit: 'files', description: 'Files of one form' },
    ...workspaceLimits,
    { name: 'message.length', value: maxMessageLength, unit: 'characters', description: 'One chat message' },
    {
      name: 'messages',
      value: maxMessages,
      unit: 'messages',
      description: 'Turns of a conversation in one request',
    },
    {
      name: 'runs.user',
      value: maxRunsOfUser,
      unit: 'runs',
      description: 'Streamed answers in the making of one person',
    },
    {
      name: 'sockets.user',
      value: maxSocketsPerUser,
      unit: 'sockets',
      description: 'Open sockets of one user',
    },
    {
      name: 'streams.user',
      value: maxEventStreamsPerUser,
      unit: 'streams',
      description: 'Open event streams of one user, answers of models aside',
    },
    ...terminals(),
    ...files(),
    {
      name: 'api-keys',
      value: maxApiKeysPerUser,
      unit: 'keys',
      description: 'API keys of one user that have not ended',
    },
    {
      name: 'sign-in.failures.address',
      value: maxFailuresByAddress,
      unit: 'failures in 15 minutes',
      description: 'Failed sign-ins to one account from one address',
    },
    {
      name: 'sign-in.failures.account',
      value: maxFailuresByAccount,
      unit: 'failures in 15 minutes',
      description: 'Failed sign-ins to one account from all addresses together',
    },
  ]
}

const workspaceLimits: readonly Limit[] = [
  {
    name: 'workspaces',
    value: maxOwnedWorkspaces,
    unit: 'workspaces',
    description: 'Workspaces that one person owns',
  },
  { name: 'workspace.members', value: maxMembers, unit: 'members', description: 'People in one workspace' },
  {
    name: 'jobs',
    value: maxActiveJobsPerUser,
    unit: 'jobs',
    description: 'Jobs of one person that wait or run',
  },
  {
    name: 'import.entries',
    value: defaultArchiveLimits.entries,
    unit: 'entries',
    description: 'Files, folders and links of one archive',
  },
  {
    name: 'import.unpacked',
    value: defaultArchiveLimits.unpackedBytes,
    unit: 'bytes',
    description: 'What one archive unpacks to',
  },
  {
    name: 'import.file',
    value: defaultArchiveLimits.fileBytes,
    unit: 'bytes',
    description: 'One file of an import or upload; a larger one is skipped',
  },
  {
    name: 'files.listed',
    value: maxListedEntries,
    unit: 'entries',
    description: 'Entries of one listing of a folder',
  },
]

/** A probe a second from each of a few probers behind one address. */
export const probesPerMinute = 600

/** A page load is about 50 files; a whole team may sit behind one address. */
export const staticRequestsPerMinute = 3_000

function files(): Limit[] {
  const bytes = (name: string, value: number, description: string): Limit => ({
    name,
    value,
    unit: 'bytes',
    description,
  })
  return [
    bytes('body.file', maxFileBodyBytes, 'JSON body that carries contents of files'),
    bytes('file.content', maxFileContentBytes, 'Content of one file in a JSON body or answer'),
    bytes('export', maxExportBytes, 'Files of one export, before they are packed'),
    {
      name: 'files.batch',
      value: maxBatchOperations,
      unit: 'operations',
      description: 'Changes in one batch',
    },
    {
      name: 'files.matches',
      value: maxFileMatches,
      unit: 'matches',
      description: 'Matches of one search in files',
    },
    {
      name: 'files.listeners',
      value: maxChangeReaders,
      unit: 'streams',
      description: 'Open streams of changes of one workspace',
    },
    {
      name: 'files.listeners.user',
      value: maxChangeReadersPerUser,
      unit: 'streams',
      description: 'Open streams of changes of one workspace that one user has',
    },
    {
      name: 'files.indexed',
      value: maxIndexedFiles,
      unit: 'files',
      description: 'Files of one workspace that search is kept up with',
    },
  ]
}

function terminals(): Limit[] {
  const { perUser, perWorkspace, perServer, viewers, detachedMilliseconds } = terminalLimits
  const count = (name: string, value: number, description: string): Limit => ({
    name: `terminals.${name}`,
    value,
    unit: 'terminals',
    description,
  })
  return [
    count('user', perUser, 'Terminals of one user'),
    count('workspace', perWorkspace, 'Terminals of one workspace'),
    count('server', perServer, 'Terminals of this server'),
    {
      name: 'terminals.viewers',
      value: viewers,
      unit: 'connections',
      description: 'Connections that look at one terminal',
    },
    {
      name: 'terminals.detached',
      value: detachedMilliseconds / 60_000,
      unit: 'minutes',
      description: 'How long a terminal lives that nobody looks at',
    },
  ]
}

function rate(rateClass: string, value: number, description: string): Limit {
  return { name: `rate.${rateClass}`, value, unit: 'requests a minute', description }
}
