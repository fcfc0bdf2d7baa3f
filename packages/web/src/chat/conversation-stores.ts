import type { Client } from '@atelier/client'
import { createPersistedStore } from '../lib/persisted-store.ts'
import { type ChatSession, createChatSession } from './chat-session.ts'
import { Conversation, emptyConversation, settleInterrupted } from './conversation.ts'

/** Time between two writes of a conversation that is being answered, in milliseconds. */
const writeEveryMs = 1_000

/** The conversation of a person in each workspace; it outlives the panel that shows it, and a reload. */
export interface ConversationStores {
  of(userId: string, workspaceId: string): ChatSession
}

export function createConversationStores(deps: { client: Client; storage: Storage }): ConversationStores {
  const sessions = new Map<string, ChatSession>()
  return {
    of(userId, workspaceId) {
      const key = `atelier.chat.${userId}.${workspaceId}`
      const known = sessions.get(key)
      if (known !== undefined) return known
      const store = createPersistedStore<Conversation>({
        key,
        schema: Conversation,
        initial: emptyConversation,
        storage: deps.storage,
        writeEveryMs,
      })
      store.set(settleInterrupted)
      const made = createChatSession({
        client: deps.client,
        workspaceId,
        store,
        schedule: (flush) => void requestAnimationFrame(flush),
        wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
        newId,
        now: () => new Date(),
      })
      sessions.set(key, made)
      void made.resume()
      return made
    },
  }
}

/** Random and unique in the page; `crypto.randomUUID` needs TLS, which a home server may not have. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
