import type { Client } from '@atelier/client'
import type { QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { newId } from '../lib/new-id.ts'
import { createPersistedStore } from '../lib/persisted-store.ts'
import type { Store } from '../lib/store.ts'
import { type ChatSession, createChatSession } from './chat-session.ts'
import { arrivingIn } from './turn.ts'

/** Where a conversation is shown; `chatId` is null for one that begins. */
export interface ChatPlace {
  userId: string
  workspaceId: string
  chatId: string | null
}

/** The conversations that the page holds; each outlives the panel that shows it. */
export interface ChatSessions {
  /** The conversation of an address, read if it is not here yet. */
  of(place: ChatPlace): ChatSession
  /** It was deleted. */
  forget(place: ChatPlace): void
  /** key of the model that the person has chosen; null follows the recommendation */
  readonly model: Store<string | null>
  /** models may look into the workspace by themselves, where they can */
  readonly tools: Store<boolean>
}

/** Conversations held at once; the one that was not looked at for longest leaves first, unless it is being answered. */
const mostSessions = 20

export function createChatSessions(deps: {
  client: Client
  queryClient: QueryClient
  storage: Storage
  /** told when a conversation that begins has got its id */
  onStored: (workspaceId: string, chatId: string) => void
}): ChatSessions {
  const sessions = new Map<string, ChatSession>()

  function create(place: ChatPlace): ChatSession {
    const session = createChatSession({
      client: deps.client,
      workspaceId: place.workspaceId,
      chatId: place.chatId,
      onStored(chatId) {
        // From now on the address with this id shows it, and the one without begins another.
        sessions.delete(keyOf(place))
        sessions.set(keyOf({ ...place, chatId }), session)
        deps.onStored(place.workspaceId, chatId)
      },
      onChanged: () => void deps.queryClient.invalidateQueries({ queryKey: ['chats'] }),
      schedule: (flush) => void requestAnimationFrame(flush),
      wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
      newId,
      now: () => new Date(),
    })
    void session.read()
    return session
  }

  function dropOldest(): void {
    for (const [key, session] of sessions) {
      if (sessions.size < mostSessions) return
      if (arrivingIn(session.store.get().turns) === undefined) sessions.delete(key)
    }
  }

  return {
    of(place) {
      const key = keyOf(place)
      const known = sessions.get(key)
      if (known !== undefined) {
        sessions.delete(key)
        sessions.set(key, known)
        return known
      }
      dropOldest()
      const created = create(place)
      sessions.set(key, created)
      return created
    },
    forget: (place) => void sessions.delete(keyOf(place)),
    model: createPersistedStore<string | null>({
      key: 'atelier.model',
      schema: z.string().nullable(),
      initial: null,
      storage: deps.storage,
    }),
    tools: createPersistedStore<boolean>({
      key: 'atelier.tools',
      schema: z.boolean(),
      initial: true,
      storage: deps.storage,
    }),
  }
}

function keyOf({ userId, workspaceId, chatId }: ChatPlace): string {
  return `${userId} ${workspaceId} ${chatId ?? 'new'}`
}
