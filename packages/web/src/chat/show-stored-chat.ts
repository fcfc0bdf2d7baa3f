import { navigate } from 'wouter/use-browser-location'
import { ideHref, parseIdeLocation } from '../shell/ide-url.ts'

/** Writes a conversation that has just got its id into the address, if it is still the one that the address means. */
export function showStoredChat(workspaceId: string, chatId: string): void {
  const { pathname, search, hash } = window.location
  const here = parseIdeLocation(pathname, search, hash)
  if (here === null || here.workspaceId !== workspaceId || here.chat !== null) return
  navigate(ideHref({ ...here, chat: chatId }), { replace: true })
}
