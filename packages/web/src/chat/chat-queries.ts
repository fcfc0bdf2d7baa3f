import { ApiError, type Client } from '@atelier/client'
import { readChats, type StoredChat } from '@atelier/contract'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useServices } from '../lib/services.tsx'

/** Chats of one page of the list, and those that a chat that begins offers to go on with. */
const chatsListed = 50
const chatsOffered = 3

/** How often a list looks whether an answer in the making has ended, in milliseconds. */
const runningMs = 3_000

interface ChatPage {
  items: StoredChat[]
  nextCursor: string | null
}

interface ChatPageQuery {
  workspaceId: string
  limit: number
  search?: string
  cursor?: string
}

async function readPage(client: Client, query: ChatPageQuery, signal: AbortSignal): Promise<ChatPage> {
  const read = await client.call(readChats, { query }, { signal })
  if (read.kind !== 'list')
    throw new ApiError({ code: 'BAD_ANSWER', status: 200, message: 'No list of chats' })
  return read
}

/** The person's chats about a workspace, the last used first; `search` finds a text in titles and messages. */
export function useChats(workspaceId: string, search: string) {
  const { client } = useServices()
  return useInfiniteQuery({
    queryKey: ['chats', workspaceId, 'list', search],
    queryFn: ({ signal, pageParam }) => {
      const found = search === '' ? {} : { search }
      const place = pageParam === null ? {} : { cursor: pageParam }
      return readPage(client, { workspaceId, limit: chatsListed, ...found, ...place }, signal)
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ items }) => items.some(({ runId }) => runId !== null)) ? runningMs : false,
  })
}

export function useRecentChats(workspaceId: string) {
  const { client } = useServices()
  return useQuery({
    queryKey: ['chats', workspaceId, 'recent'],
    queryFn: ({ signal }) => readPage(client, { workspaceId, limit: chatsOffered }, signal),
  })
}

/** What a list knows about one chat, for its title. */
export function useStoredChat(workspaceId: string, chatId: string | null) {
  const { client } = useServices()
  return useQuery({
    queryKey: ['chats', workspaceId, 'one', chatId],
    queryFn: async ({ signal }) => {
      const read = await client.call(readChats, { query: { chatId: chatId ?? '', limit: 1 } }, { signal })
      return read.kind === 'chat' ? read.chat : null
    },
    enabled: chatId !== null,
    retry: false,
  })
}
