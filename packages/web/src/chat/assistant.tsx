import { ArrowDown } from 'lucide-react'
import { useEffect, useEffectEvent, useState } from 'react'
import { useModels, useUser } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { useIde } from '../shell/use-ide.ts'
import { AnswerAnnouncer } from './answer-announcer.tsx'
import { AssistantHeader } from './assistant-header.tsx'
import styles from './chat.module.css'
import { ChatHistory } from './chat-history.tsx'
import type { ChatSession } from './chat-session.ts'
import { Composer } from './composer.tsx'
import { modelToAsk } from './model-choice.ts'
import { Transcript } from './transcript.tsx'
import { arrivingIn, type Turn } from './turn.ts'
import { preloadAnswerMarkdown } from './turn-view.tsx'
import { useStickToBottom } from './use-stick-to-bottom.ts'

/** The conversation that the address names. */
export function useChatSession(): ChatSession {
  const { chats } = useServices()
  const { workspaceId, chat } = useIde().location
  return chats.of({ userId: useUser().id, workspaceId, chatId: chat })
}

/** The conversation about a workspace, and the list of those before it. */
export function Assistant({ onClose }: { onClose?: () => void }) {
  const session = useChatSession()
  const { showChat } = useIde()
  const [listed, setListed] = useState(false)
  useEffect(preloadAnswerMarkdown, [])
  useFreshness(session)
  const show = (chatId: string | null) => {
    setListed(false)
    showChat(chatId)
  }
  return (
    <section className={styles.assistant} aria-label="Assistant">
      <AssistantHeader
        session={session}
        listed={listed}
        onList={() => setListed(!listed)}
        onShow={show}
        {...(onClose ? { onClose } : {})}
      />
      {listed ? (
        <ChatHistory onOpen={() => setListed(false)} />
      ) : (
        <Conversation session={session} onHistory={() => setListed(true)} />
      )}
    </section>
  )
}

function Conversation({ session, onHistory }: { session: ChatSession; onHistory: () => void }) {
  const { chats } = useServices()
  const { turns, reading } = useStore(session.store)
  const { data: catalog } = useModels()
  const chosen = useStore(chats.model)
  const tools = useStore(chats.tools)
  const { scroller, content, atEnd, toEnd, toElement, keepPlace } = useStickToBottom()
  const model = modelToAsk(catalog, chosen)
  const arriving = arrivingIn(turns)
  const last = arriving ?? turns.at(-1)
  useFromItsBeginning(last, () => toElement('article:last-of-type'))
  const ask = (question: string, files: readonly string[]) => {
    toEnd()
    void session.ask({ question, files, model, tools })
  }
  return (
    <>
      <div className={styles.view}>
        <div ref={scroller} className={styles.scroller}>
          <div ref={content} className={styles.turns}>
            <Transcript
              session={session}
              onAsk={(question) => ask(question, [])}
              onRetry={() => void session.retry({ model, tools })}
              onHistory={onHistory}
              onEarlier={() => void keepPlace(session.readEarlier)}
            />
          </div>
        </div>
        {!atEnd && (
          <button type="button" className={styles.toEnd} onClick={toEnd}>
            <ArrowDown size={14} aria-hidden />
            Latest
          </button>
        )}
      </div>
      <AnswerAnnouncer turn={last} />
      <Composer
        draft={session.draft}
        model={model}
        busy={arriving !== undefined}
        disabled={reading.state !== 'read'}
        onModel={(key) => chats.model.set(key)}
        onAsk={ask}
        onStop={() => void session.stop()}
      />
    </>
  )
}

/** Reads a conversation again when one comes back to it: it may have gone on in another window. */
function useFreshness(session: ChatSession): void {
  useEffect(() => {
    const read = () => void (document.visibilityState === 'visible' && session.read())
    read()
    document.addEventListener('visibilitychange', read)
    return () => document.removeEventListener('visibilitychange', read)
  }, [session])
}

/** An answer that came faster than this was not read while it arrived, in milliseconds. */
const unreadMs = 2_500

/** Shows an answer that came all at once from its beginning; one that was read as it arrived stays where it is. */
function useFromItsBeginning(turn: Turn | undefined, show: () => void): void {
  const [watched, setWatched] = useState<string | null>(null)
  const showNow = useEffectEvent(show)
  const streaming = turn?.outcome.state === 'streaming'
  if (streaming && watched !== turn.id) setWatched(turn.id)
  const ended = turn !== undefined && !streaming && watched === turn.id
  const askedAt = turn?.askedAt ?? ''
  useEffect(() => {
    if (!ended || Date.now() - Date.parse(askedAt) > unreadMs) return
    // After the answer's last words have been laid out.
    const frame = requestAnimationFrame(() => showNow())
    return () => cancelAnimationFrame(frame)
  }, [ended, askedAt])
}
