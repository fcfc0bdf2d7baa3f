import { History, SquarePen, X } from 'lucide-react'
import { useStore } from '../lib/store.ts'
import { PanelHeader } from '../shell/panel-header.tsx'
import { useIde } from '../shell/use-ide.ts'
import { IconButton } from '../ui/button.tsx'
import { ChatMenu } from './chat-menu.tsx'
import { useStoredChat } from './chat-queries.ts'
import type { ChatSession } from './chat-session.ts'

interface AssistantHeaderProps {
  session: ChatSession
  /** the list of chats is shown in place of the chat */
  listed: boolean
  onList: () => void
  onShow: (chatId: string | null) => void
  onClose?: () => void
}

export function AssistantHeader({ session, listed, onList, onShow, onClose }: AssistantHeaderProps) {
  const { location } = useIde()
  const { turns } = useStore(session.store)
  const chat = useStoredChat(location.workspaceId, location.chat).data ?? null
  const begin = () => {
    onShow(null)
    // After the new chat has been drawn.
    requestAnimationFrame(() => document.getElementById('question')?.focus())
  }
  return (
    <PanelHeader title={listed ? 'Chats' : (chat?.title ?? 'Assistant')}>
      {chat !== null && !listed && <ChatMenu chat={chat} label="This chat" onDeleted={() => onShow(null)} />}
      <IconButton icon={History} label="Chats" side="left" aria-pressed={listed} onClick={onList} />
      <IconButton
        icon={SquarePen}
        label="New chat"
        side="left"
        disabled={!listed && turns.length === 0 && location.chat === null}
        onClick={begin}
      />
      {onClose !== undefined && (
        <IconButton icon={X} label="Close the assistant" side="left" onClick={onClose} />
      )}
    </PanelHeader>
  )
}
