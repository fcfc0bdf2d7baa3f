import { ArrowDown, MessageSquareText, SquarePen, X } from 'lucide-react'
import { useEffect, useEffectEvent, useState } from 'react'
import { useWorkspaceFiles } from '../files/file-tree-context.tsx'
import { useModels, useUser } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { PanelHeader } from '../shell/panel-header.tsx'
import { useIde } from '../shell/use-ide.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { EmptyState } from '../ui/feedback.tsx'
import { AnswerAnnouncer } from './answer-announcer.tsx'
import styles from './chat.module.css'
import type { ChatSession } from './chat-session.ts'
import { Composer } from './composer.tsx'
import type { Turn } from './conversation.ts'
import { LocalNotice } from './local-notice.tsx'
import { localModelKey, modelToAsk } from './model-choice.ts'
import { preloadAnswerMarkdown, TurnView } from './turn-view.tsx'
import { useStickToBottom } from './use-stick-to-bottom.ts'

export function useChatSession(): ChatSession {
  const { conversations } = useServices()
  return conversations.of(useUser().id, useIde().location.workspaceId)
}

/** The conversation about a workspace. */
export function Assistant({ onClose }: { onClose?: () => void }) {
  const session = useChatSession()
  const { turns, model: chosen } = useStore(session.store)
  const { data: catalog } = useModels()
  const { scroller, content, atEnd, toEnd, toElement } = useStickToBottom()
  const model = modelToAsk(catalog, chosen)
  useEffect(preloadAnswerMarkdown, [])
  const last = turns.at(-1)
  useFromItsBeginning(last, () => toElement('article:last-of-type'))
  const busy = last?.outcome.state === 'streaming'
  const ask = (question: string, files: string[]) => {
    toEnd()
    void session.ask({ question, files, model })
  }
  const retry = () => void session.retry(model)
  return (
    <section className={styles.assistant} aria-label="Assistant">
      <PanelHeader title="Assistant">
        <NewChat session={session} disabled={turns.length === 0} />
        {onClose !== undefined && (
          <IconButton icon={X} label="Close the assistant" side="left" onClick={onClose} />
        )}
      </PanelHeader>
      <div className={styles.view}>
        <div ref={scroller} className={styles.scroller}>
          <div ref={content} className={styles.turns}>
            {turns.length === 0 && <FirstQuestion onAsk={(question) => ask(question, [])} />}
            {turns.map((turn) => (
              <TurnView key={turn.id} turn={turn} onRetry={turn === last && !busy ? retry : undefined} />
            ))}
            {last?.outcome.state === 'done' && last.answeredBy?.model === localModelKey && <LocalNotice />}
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
        busy={busy}
        onModel={session.setModel}
        onAsk={ask}
        onStop={() => void session.stop()}
      />
    </section>
  )
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

function NewChat({ session, disabled }: { session: ChatSession; disabled: boolean }) {
  const { toasts } = useServices()
  const clear = () => {
    const former = session.clear()
    toasts.show({
      text: 'A new chat has begun',
      action: { label: 'Undo', run: () => session.restore(former) },
    })
    document.getElementById('question')?.focus()
  }
  return <IconButton icon={SquarePen} label="New chat" side="left" disabled={disabled} onClick={clear} />
}

const firstQuestions = ['What does this project do?', 'Where does it start?', 'How are errors handled?']

function FirstQuestion({ onAsk }: { onAsk: (question: string) => void }) {
  const { tree } = useWorkspaceFiles()
  if (tree.files.length === 0) {
    return (
      <EmptyState icon={MessageSquareText} title="Ask about your code">
        <p>Import a project first: answers come from its files and point at their lines.</p>
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={MessageSquareText}
      title="Ask about your code"
      actions={firstQuestions.map((question) => (
        <Button key={question} onClick={() => onAsk(question)}>
          {question}
        </Button>
      ))}
    >
      <p>Answers come from the files of this workspace and point at their lines.</p>
    </EmptyState>
  )
}
