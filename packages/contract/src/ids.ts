import { z } from 'zod'

/** Every id is a prefix and a ULID (26 characters of Crockford's base 32): sortable by time, recognisable in a log. */
export const idPrefixes = {
  user: 'usr',
  session: 'ses',
  workspace: 'ws',
  chat: 'chat',
  message: 'msg',
  run: 'run',
  budget: 'bud',
  document: 'doc',
  chunk: 'chk',
  job: 'job',
  terminal: 'term',
  codeServer: 'cs',
  template: 'tpl',
  apiKey: 'key',
  request: 'req',
} as const

export type IdKind = keyof typeof idPrefixes

function idSchema(kind: IdKind) {
  const prefix = idPrefixes[kind]
  return z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`), `must be an id of the form ${prefix}_<ULID>`)
    .meta({ examples: [`${prefix}_01JD8XQ4ZK3V5N6P7R8S9T0ABC`] })
}

export const UserId = idSchema('user')
export const WorkspaceId = idSchema('workspace')
export const ChatId = idSchema('chat')
export const MessageId = idSchema('message')
export const RunId = idSchema('run')
export const BudgetId = idSchema('budget')
export const DocumentId = idSchema('document')
export const JobId = idSchema('job')
export const TerminalId = idSchema('terminal')
export const CodeServerId = idSchema('codeServer')
export const TemplateId = idSchema('template')
export const ApiKeyId = idSchema('apiKey')
