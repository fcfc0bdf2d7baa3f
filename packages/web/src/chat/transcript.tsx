import { ApiError } from '@atelier/client'
import { MessageSquareOff, SquarePen } from 'lucide-react'
import { useStore } from '../lib/store.ts'
import { useIde } from '../shell/use-ide.ts'
import { Button } from '../ui/button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { EmptyState, Loading } from '../ui/feedback.tsx'
import styles from './chat.module.css'
import type { ChatSession } from './chat-session.ts'
import { FirstQuestion } from './first-question.tsx'
import { arrivingIn, type Turn } from './turn.ts'
import { isVoid, TurnView } from './turn-view.tsx'

interface TranscriptProps {
  session: ChatSession
  onAsk: (question: string) => void
  onRetry: () => void
  onHistory: () => void
  onEarlier: () => void
}

/** The turns of a conversation, or what there is to do where there are none. */
export function Transcript({ session, onAsk, onRetry, onHistory, onEarlier }: TranscriptProps) {
  const { turns, reading } = useStore(session.store)
  if (reading.state === 'opening') return <Loading label="Opening the chat" />
  if (reading.state === 'failed') return <NotRead error={reading.error} onRetry={() => void session.read()} />
  if (turns.length === 0) return <FirstQuestion onAsk={onAsk} onHistory={onHistory} />
  const last = turns.at(-1)
  const busy = arrivingIn(turns) !== undefined
  return (
    <>
      {reading.earlier !== null && (
        <div className={styles.earlier}>
          <Button variant="quiet" busy={reading.more === 'reading'} onClick={onEarlier}>
            {reading.more === 'failed'
              ? 'Earlier messages could not be read. Try again'
              : 'Show earlier messages'}
          </Button>
        </div>
      )}
      {turns.map((turn, index) => (
        <TurnView
          key={turn.id}
          turn={turn}
          superseded={isSuperseded(turn, turns[index + 1])}
          onRetry={turn === last && !busy && turn.question !== null ? onRetry : undefined}
        />
      ))}
    </>
  )
}

function isSuperseded(turn: Turn, next: Turn | undefined): boolean {
  return next !== undefined && next.question === turn.question && isVoid(turn)
}

function NotRead({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { showChat } = useIde()
  if (error instanceof ApiError && (error.code === 'NOT_FOUND' || error.code === 'VALIDATION_ERROR')) {
    return (
      <EmptyState
        icon={MessageSquareOff}
        title="This chat is not here"
        actions={
          <Button icon={SquarePen} onClick={() => showChat(null)}>
            New chat
          </Button>
        }
      >
        <p>It was deleted, or it is somebody else’s: chats belong to the person who began them.</p>
      </EmptyState>
    )
  }
  return <ErrorNotice error={error} onRetry={onRetry} />
}
