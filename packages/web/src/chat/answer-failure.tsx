import { ErrorNotice } from '../ui/error-notice.tsx'
import { AttemptList } from './attempt-list.tsx'
import { hasFailures } from './attempt-words.ts'
import type { Outcome } from './turn.ts'

interface AnswerFailureProps {
  outcome: Extract<Outcome, { state: 'failed' }>
  hasText: boolean
  onRetry: (() => void) | undefined
}

/** Why there is no answer, or only the beginning of one; who was asked; what was kept. */
export function AnswerFailure({ outcome, hasText, onRetry }: AnswerFailureProps) {
  const { error, interrupted, attempts } = outcome
  return (
    <ErrorNotice
      error={error}
      kept={hasText ? 'What had arrived is kept above.' : 'Your question is kept.'}
      {...(interrupted ? { title: 'The answer broke off before its end' } : {})}
      {...(onRetry ? { onRetry } : {})}
    >
      {hasFailures(attempts) && <AttemptList attempts={attempts} />}
    </ErrorNotice>
  )
}
