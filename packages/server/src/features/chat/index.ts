import type { Database } from '../../platform/db/database.ts'
import type { Mongo } from '../../platform/db/mongo.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import type { ContextDependencies } from './answer-context.ts'
import { mountChatRoutes } from './chat-routes.ts'
import { createChatService } from './chat-service.ts'
import type { ChatStore } from './chat-store.ts'
import { mountConversationRoutes } from './conversation-routes.ts'
import { openMongoChatStore } from './mongo-chat-store.ts'
import { createPromptBuilder } from './prompt-builder.ts'
import { createRelationalChatStore } from './relational-chat-store.ts'
import { createRunStore } from './run-store.ts'
import { createRuns, type Runs } from './runs.ts'
import { lostAnswerOf } from './stored-answer.ts'
import { createStoredChats } from './stored-chats.ts'
import { createTokenCounter } from './token-counter.ts'

export { maxRunsOfUser } from './runs.ts'
export type {
  ContextSource,
  FileSource,
  Passage,
  RetrievedContext,
  WorkspaceFile,
} from './workspace-context.ts'

/** What outlives a request: stored conversations, and answers in the making. */
export interface Conversations extends AsyncDisposable {
  readonly store: ChatStore
  readonly runs: Runs
}

/**
 * Ends what a former process has left unfinished, and begins to look after runs. Disposing stops the answers in the
 * making and stores what they have said: to be done after the server has stopped listening, and before the database
 * closes.
 */
export async function openConversations(dependencies: {
  database: Database
  /** where conversations are kept instead; runs stay in the database */
  mongo?: Mongo | undefined
  logger: { error(fields: object, message: string): void; warn(fields: object, message: string): void }
}): Promise<Conversations> {
  const { database, mongo, logger } = dependencies
  const store =
    mongo === undefined ? createRelationalChatStore({ database }) : await openMongoChatStore(mongo)
  const runs = createRuns({
    store: createRunStore({ database }),
    logger,
    // Only one process can have the embedded database open.
    alone: database.engine === 'pglite',
    async keepLostAnswer(run, lost) {
      if (run.chatId !== null) await store.append(run.userId, run.chatId, [lostAnswerOf(run.id, lost)])
    },
  })
  await runs.recover()
  return { store, runs, [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose]() }
}

/** Mounts the chat endpoints. */
export function chatFeature(
  dependencies: { http: HttpServer; conversations: Conversations } & Omit<ContextDependencies, 'prompts'>,
): void {
  const { http, conversations } = dependencies
  const { store, runs } = conversations
  const prompts = createPromptBuilder({ tokens: createTokenCounter() })
  const service = createChatService({ ...dependencies, prompts, runs })
  const chats = createStoredChats({ ...dependencies, store, runs })
  mountChatRoutes({ http, service })
  mountConversationRoutes({ http, service, chats, runs })
}
