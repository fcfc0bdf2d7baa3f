import {
  deleteChat,
  readChats,
  renameChat,
  resumeChatStream,
  saveChat,
  startChatStream,
  stopChatStream,
} from '@atelier/contract'
import { invalidField, notFound } from '../../base/app-error.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { type Call, mount, mountRaw } from '../../platform/http/mount.ts'
import { type Principal, workspacesOf } from '../../platform/identity/principal.ts'
import type { ChatRequest } from './answer-context.ts'
import type { ChatService } from './chat-service.ts'
import { toConversation } from './conversation.ts'
import type { Runs } from './runs.ts'
import { sendAnswer, sendRun } from './send-answer-routes.ts'
import type { ChatHistory, StoredChats } from './stored-chats.ts'

/** Stored conversations and the runs of their answers. */
export function mountConversationRoutes(dependencies: {
  http: HttpServer
  service: ChatService
  chats: StoredChats
  runs: Runs
}): void {
  const { http, service, chats, runs } = dependencies
  mountRaw(http, startChatStream, async (call, reply) => {
    const { chatId, message, workspaceId, earlyHeaders: early = false } = call.body
    const history = await chats.history(call.principal, chatId)
    const turn = { userId: call.principal.userId, history, question: message, workspaceId }
    const stream = await service.stream(questionOf(call, history), chats.keeping(turn))
    await sendAnswer(reply, stream, call.signal, { headers: { 'x-chat-id': history.chatId }, early })
  })
  mountRaw(http, resumeChatStream, async (call, reply) => {
    const runId = await runAsked(chats, runs, call)
    if (runId === null) return reply.code(204).send()
    await sendRun(reply, {
      runId,
      chatId: call.query.chatId,
      headers: { 'x-run-id': runId },
      after: lastEventIdOf(call),
      eventsAfter: (after) => runs.events(call.principal.userId, runId, after, call.signal),
    })
  })
  mount(http, stopChatStream, async ({ principal, query: { runId } }) => {
    await admitToRun(runs, principal, runId)
    return { runId, state: await runs.stop(principal.userId, runId) }
  })
  mount(http, readChats, ({ principal, query }) => read(chats, principal, query))
  mount(http, saveChat, ({ principal, body: { chatId, messages = [], ...fresh } }) => {
    if (chatId === undefined) return chats.create(principal, { ...fresh, messages })
    const [field] = Object.keys(fresh)
    if (field !== undefined) throw invalidField(field, 'is for a new conversation; leave it or chatId out')
    return chats.append(principal, chatId, messages)
  })
  mount(http, renameChat, ({ principal, body }) => chats.rename(principal, body.chatId, body.title))
  mount(http, deleteChat, async ({ principal, query: { chatId } }) => {
    await chats.remove(principal, chatId)
    return { id: chatId }
  })
}

async function read(
  chats: StoredChats,
  principal: Call<typeof readChats>['principal'],
  query: Call<typeof readChats>['query'],
) {
  const { chatId, format, ...page } = query
  if (chatId === undefined) {
    if (format !== undefined) throw invalidField('format', 'is for one conversation; name it with chatId')
    return { kind: 'list' as const, ...(await chats.list(principal, page)) }
  }
  if (format === undefined) return { kind: 'chat' as const, ...(await chats.read(principal, chatId, page)) }
  const document = await chats.document(principal, chatId)
  return { kind: 'document' as const, mediaType: 'text/markdown' as const, ...document }
}

function questionOf(call: Call<typeof startChatStream>, history: ChatHistory): ChatRequest {
  const { message, model, workspaceId, files, enableTools } = call.body
  return {
    principal: call.principal,
    requestId: call.requestId,
    chatId: history.chatId,
    conversation: toConversation([...history.turns, { role: 'user', content: message }], 'message'),
    models: { kind: 'one', model, field: 'model' },
    restart: false,
    workspaceId: workspaceId ?? history.workspaceId ?? undefined,
    files: files ?? [],
    temperature: undefined,
    maxTokens: undefined,
    questionField: 'message',
    enableTools: enableTools === true,
  }
}

/** The named run, or the one of a conversation; null when that has none. */
async function runAsked(
  chats: StoredChats,
  runs: Runs,
  { principal, query: { runId, chatId } }: Call<typeof resumeChatStream>,
): Promise<string | null> {
  if (chatId === undefined) {
    if (runId === undefined)
      throw invalidField('runId', 'is missing; name a run, or a conversation with chatId')
    await admitToRun(runs, principal, runId)
    return runId
  }
  if (runId !== undefined) throw invalidField('chatId', 'names a run as runId does; leave one out')
  const { chat } = await chats.read(principal, chatId, { limit: 1 })
  return chat.runId
}

/** A key made for some workspaces sees no run about another. */
async function admitToRun(runs: Runs, principal: Principal, runId: string): Promise<void> {
  const among = workspacesOf(principal)
  if (among === null) return
  const workspaceId = await runs.workspaceOf(principal.userId, runId)
  if (workspaceId !== null && !among.includes(workspaceId)) throw notFound('Run')
}

/** The header is what browsers send when they reconnect by themselves. */
function lastEventIdOf(call: Call<typeof resumeChatStream>): number {
  const header = call.request.headers['last-event-id']
  if (header === undefined || header === '') return call.query.lastEventId ?? 0
  if (typeof header !== 'string' || !/^\d{1,9}$/.test(header)) {
    throw invalidField('Last-Event-ID', 'must be the number of an event')
  }
  return Number(header)
}
