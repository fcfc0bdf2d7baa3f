import type { StoredChat } from '@atelier/contract'
import { MessagesSquare, Search, SearchX } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { formatAgo, formatCount } from '../lib/format.ts'
import { useModels } from '../lib/queries.ts'
import { useDebounced } from '../lib/use-debounced.ts'
import { useNow } from '../lib/use-now.ts'
import { useIde } from '../shell/use-ide.ts'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { EmptyState, Loading } from '../ui/feedback.tsx'
import chatStyles from './chat.module.css'
import styles from './chat-history.module.css'
import { ChatMenu } from './chat-menu.tsx'
import { useChats } from './chat-queries.ts'
import { modelName } from './model-choice.ts'

interface ChatHistoryProps {
  /** a chat was chosen */
  onOpen: () => void
}

/** The person's chats about this workspace: found by words, opened, renamed, saved, deleted. */
export function ChatHistory({ onOpen }: ChatHistoryProps) {
  const { location } = useIde()
  const [text, setText] = useState('')
  const search = useDebounced(text.trim())
  const chats = useChats(location.workspaceId, search)
  const items = chats.data?.pages.flatMap((page) => page.items)
  return (
    <div className={styles.history}>
      <search className={styles.historySearch}>
        <Search size={14} aria-hidden />
        <input
          type="search"
          aria-label="Search chats"
          placeholder="Search titles and messages"
          value={text}
          maxLength={200}
          onChange={(event) => setText(event.target.value)}
        />
      </search>
      <div className={styles.historyList} aria-live="polite" aria-busy={chats.isFetching}>
        {chats.isPending && <Loading label="Reading your chats" />}
        {chats.isError && (
          <div className={styles.padded}>
            <ErrorNotice error={chats.error} onRetry={() => void chats.refetch()} />
          </div>
        )}
        {items?.length === 0 && <NoChats search={search} onOpen={onOpen} />}
        {items !== undefined && items.length > 0 && (
          <ul>
            {items.map((chat) => (
              <ChatRow key={chat.id} chat={chat} current={chat.id === location.chat} onOpen={onOpen} />
            ))}
          </ul>
        )}
        {chats.hasNextPage && (
          <Button variant="quiet" busy={chats.isFetchingNextPage} onClick={() => void chats.fetchNextPage()}>
            Show older chats
          </Button>
        )}
      </div>
    </div>
  )
}

function NoChats({ search, onOpen }: ChatHistoryProps & { search: string }) {
  const { href } = useIde()
  if (search !== '') {
    return (
      <EmptyState icon={SearchX} title="No chat has these words">
        <p>Titles, questions and answers are searched for exactly what you type.</p>
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={MessagesSquare}
      title="No chats yet"
      actions={
        <Link href={href({ chat: null })} onClick={onOpen}>
          Ask something
        </Link>
      }
    >
      <p>Each question you ask about this workspace begins a chat or goes on with one. They are kept here.</p>
    </EmptyState>
  )
}

interface ChatRowProps extends ChatHistoryProps {
  chat: StoredChat
  current: boolean
}

function ChatRow({ chat, current, onOpen }: ChatRowProps) {
  const { href, showChat } = useIde()
  const now = useNow(60_000)
  const { data: catalog } = useModels()
  const { title, updatedAt, messages, model, runId } = chat
  return (
    <li className={styles.chatRow} data-current={current}>
      <Link href={href({ chat: chat.id })} aria-current={current || undefined} onClick={onOpen}>
        <span>
          {runId !== null && (
            <span
              className={classes(chatStyles.pulse, styles.answering)}
              role="img"
              aria-label="Being answered"
            />
          )}
          {title}
        </span>
        <small>
          {formatAgo(updatedAt, now)} · {formatCount(messages, 'message')}
          {model !== null && ` · ${modelName(catalog, model)}`}
        </small>
      </Link>
      <ChatMenu chat={chat} label={`Chat “${title}”`} onDeleted={() => current && showChat(null)} />
    </li>
  )
}
