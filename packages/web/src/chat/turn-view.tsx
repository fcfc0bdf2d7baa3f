import { ApiError } from '@atelier/client'
import type { ErrorCode } from '@atelier/contract'
import { FileText, RotateCw } from 'lucide-react'
import { lazy, memo, Suspense, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { AnswerFooter } from './answer-footer.tsx'
import styles from './chat.module.css'
import { CitationChip } from './citation-chip.tsx'
import type { Outcome, Turn } from './conversation.ts'

/** Markdown is a fifth of the page's code, and a workspace without a chat does not need it. */
const AnswerMarkdown = lazy(() =>
  import('./answer-markdown.tsx').then(({ AnswerMarkdown }) => ({ default: AnswerMarkdown })),
)

/** Fetches it ahead of the first answer, so that the answer does not change its look while it is read. */
export function preloadAnswerMarkdown(): void {
  // A failure shows when an answer needs it.
  import('./answer-markdown.tsx').catch(() => undefined)
}

export interface TurnViewProps {
  turn: Turn
  /** the last turn can be asked again */
  onRetry: (() => void) | undefined
}

/** A question and its answer. */
export const TurnView = memo(function TurnView({ turn, onRetry }: TurnViewProps) {
  const { outcome, text } = turn
  return (
    <article className={styles.turn}>
      <div className={styles.question}>
        <h3 className="visually-hidden">You asked</h3>
        <p>{turn.question}</p>
        {turn.files.length > 0 && (
          <ul>
            {turn.files.map((file) => (
              <li key={file}>
                <FileText size={12} aria-hidden />
                {file}
              </li>
            ))}
          </ul>
        )}
      </div>
      <div className={styles.answer}>
        <h3 className="visually-hidden">Answer</h3>
        {text !== '' && (
          <Suspense fallback={<p className={styles.plain}>{text}</p>}>
            <AnswerMarkdown text={text} />
          </Suspense>
        )}
        {outcome.state === 'streaming' && <Arriving hasText={text !== ''} />}
        {outcome.state === 'done' && <Sources citations={outcome.citations} />}
        {outcome.state === 'failed' && <Failure outcome={outcome} hasText={text !== ''} onRetry={onRetry} />}
        {isStopped(outcome) && (
          <div className={styles.stopped}>
            You stopped this answer.
            {onRetry !== undefined && (
              <Button variant="quiet" icon={RotateCw} onClick={onRetry}>
                Ask again
              </Button>
            )}
          </div>
        )}
        {outcome.state === 'done' && <AnswerFooter turn={turn} outcome={outcome} onRetry={onRetry} />}
      </div>
    </article>
  )
})

/** Stopped at the server, which then tells what was used; or only here, where it could not be reached. */
function isStopped(outcome: Outcome): boolean {
  return outcome.state === 'stopped' || (outcome.state === 'done' && outcome.finishReason === 'aborted')
}

function Arriving({ hasText }: { hasText: boolean }) {
  return (
    <p className={styles.arriving}>
      <span className={styles.pulse} aria-hidden />
      {!hasText && 'Reading the code and thinking'}
    </p>
  )
}

/** Sources shown before a person asks for the others. */
const firstSources = 5

function Sources({ citations }: { citations: Extract<Outcome, { state: 'done' }>['citations'] }) {
  const [all, setAll] = useState(false)
  if (citations.length === 0) return null
  const shown = all || citations.length <= firstSources + 1 ? citations : citations.slice(0, firstSources)
  return (
    <section className={styles.sources} aria-label="Sources">
      {shown.map(({ path, startLine, endLine, contentSha256 }) => (
        <CitationChip
          key={`${path}:${startLine}-${endLine}`}
          path={path}
          lines={{ start: startLine, end: endLine }}
          contentSha256={contentSha256}
          full
        />
      ))}
      {shown.length < citations.length && (
        <button type="button" className={styles.more} onClick={() => setAll(true)}>
          {citations.length - shown.length} more
        </button>
      )}
    </section>
  )
}

interface FailureProps {
  outcome: Extract<Outcome, { state: 'failed' }>
  hasText: boolean
  onRetry: (() => void) | undefined
}

function Failure({ outcome, hasText, onRetry }: FailureProps) {
  const { code, message, requestId, retryAfterSeconds } = outcome
  const error =
    code === 'INTERRUPTED'
      ? new Error(message)
      : new ApiError({
          code: code as ErrorCode,
          status: 0,
          message,
          requestId: requestId ?? undefined,
          retryAfterSeconds: retryAfterSeconds ?? undefined,
        })
  const kept = hasText ? 'What had arrived is kept above.' : 'Your question is kept.'
  return <ErrorNotice error={error} kept={kept} {...(onRetry ? { onRetry } : {})} />
}
