import { ChevronRight, FileText, RotateCw, SearchX } from 'lucide-react'
import { lazy, memo, Suspense } from 'react'
import { Button } from '../ui/button.tsx'
import facts from './answer-facts.module.css'
import { AnswerFailure } from './answer-failure.tsx'
import { AnswerFooter } from './answer-footer.tsx'
import { AnswerSources } from './answer-sources.tsx'
import styles from './chat.module.css'
import { ToolRows } from './tool-rows.tsx'
import type { Outcome, Turn } from './turn.ts'

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
  /** the same question was asked again: this answer is folded away */
  superseded: boolean
}

/** A question and its answer. */
export const TurnView = memo(function TurnView({ turn, onRetry, superseded }: TurnViewProps) {
  if (superseded) {
    return (
      <details className={facts.superseded}>
        <summary>
          <ChevronRight size={12} aria-hidden className={facts.fold} />
          {isStopped(turn.outcome) ? 'An earlier answer was stopped' : 'An earlier answer failed'}
        </summary>
        <Answer turn={turn} onRetry={undefined} />
      </details>
    )
  }
  return (
    <article className={styles.turn}>
      {turn.question !== null && <Question question={turn.question} files={turn.files} />}
      <Answer turn={turn} onRetry={onRetry} />
    </article>
  )
})

function Question({ question, files }: { question: string; files: readonly string[] }) {
  return (
    <div className={styles.question}>
      <h3 className="visually-hidden">You asked</h3>
      <p>{question}</p>
      {files.length > 0 && (
        <ul>
          {files.map((file) => (
            <li key={file}>
              <FileText size={12} aria-hidden />
              {file}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Answer({ turn, onRetry }: Pick<TurnViewProps, 'turn' | 'onRetry'>) {
  const { outcome, text, tools } = turn
  const retry = onRetry !== undefined && (
    <Button variant="quiet" icon={RotateCw} onClick={onRetry}>
      Ask again
    </Button>
  )
  return (
    <div className={styles.answer}>
      <h3 className="visually-hidden">Answer</h3>
      <ToolRows tools={tools} />
      {text !== '' && (
        <Suspense fallback={<p className={styles.plain}>{text}</p>}>
          <AnswerMarkdown text={text} />
        </Suspense>
      )}
      {outcome.state === 'streaming' && <Arriving hasText={text !== ''} stopping={outcome.stopping} />}
      {outcome.state === 'done' && outcome.ragContext?.status === 'unavailable' && <WithoutCode />}
      {outcome.state === 'done' && <AnswerSources citations={outcome.citations} />}
      {outcome.state === 'failed' && (
        <AnswerFailure outcome={outcome} hasText={text !== ''} onRetry={onRetry} />
      )}
      {isStopped(outcome) && <div className={styles.stopped}>You stopped this answer.{retry}</div>}
      {outcome.state === 'missing' && <div className={styles.stopped}>This has no answer.{retry}</div>}
      {outcome.state === 'done' && (
        <AnswerFooter turn={turn} outcome={outcome} onRetry={isStopped(outcome) ? undefined : onRetry} />
      )}
    </div>
  )
}

/** Stopped at the server, which then tells what was used; or only here, where it could not be reached. */
function isStopped(outcome: Outcome): boolean {
  return outcome.state === 'stopped' || (outcome.state === 'done' && outcome.finishReason === 'aborted')
}

/** Whether it has no answer that could be of use, so that asking again makes it void. */
export function isVoid({ outcome }: Turn): boolean {
  return outcome.state === 'failed' || isStopped(outcome)
}

function Arriving({ hasText, stopping }: { hasText: boolean; stopping: boolean }) {
  return (
    <p className={styles.arriving}>
      <span className={styles.pulse} aria-hidden />
      {stopping ? 'Stopping' : !hasText && 'Reading the code and thinking'}
    </p>
  )
}

function WithoutCode() {
  return (
    <p className={facts.withoutCode}>
      <SearchX size={14} aria-hidden />
      The code could not be searched for this answer, so it does not rest on it.
    </p>
  )
}
