import type { Usage } from '@atelier/contract'
import { ChevronRight, RotateCw } from 'lucide-react'
import { Link } from 'wouter'
import { formatMoney } from '../lib/format.ts'
import { useModels } from '../lib/queries.ts'
import { IconButton } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Badge } from '../ui/feedback.tsx'
import facts from './answer-facts.module.css'
import { AttemptList } from './attempt-list.tsx'
import { fallbackWords, hasFailures } from './attempt-words.ts'
import styles from './chat.module.css'
import { localModelKey, modelName } from './model-choice.ts'
import { tokenWords } from './token-words.ts'
import type { Outcome, Turn } from './turn.ts'

interface AnswerFooterProps {
  turn: Turn
  outcome: Extract<Outcome, { state: 'done' }>
  onRetry: (() => void) | undefined
}

/** Who answered, from how much, for how much; and who could not. */
export function AnswerFooter({ turn, outcome, onRetry }: AnswerFooterProps) {
  const { data: catalog } = useModels()
  const { usage, cost, ragContext, finishReason, attempts } = outcome
  const model = turn.answeredBy?.model ?? turn.askedModel
  return (
    <footer className={styles.answerFoot}>
      {model !== null && <span title={turn.answeredBy?.provider}>{modelName(catalog, model)}</span>}
      {usage !== null && (
        <>
          <TokenCounts usage={usage} />
          <span title={cost === null ? 'Nobody has told the price of this model' : `$${cost}`}>
            {cost === null ? 'unknown price' : formatMoney(cost)}
          </span>
        </>
      )}
      {ragContext?.relevanceScore != null && (
        <span title="How close the passages that were found are to the question">
          {ragContext.relevanceScore} relevance
        </span>
      )}
      {finishReason === 'length' && <Badge tone="warn">cut at the length limit</Badge>}
      {finishReason === 'content-filter' && <Badge tone="warn">stopped by the provider’s filter</Badge>}
      {finishReason === 'tool-calls' && <Badge tone="warn">ended while it still wanted to look</Badge>}
      {model === localModelKey && <Link href="/settings/providers">Connect a language model</Link>}
      <span className={styles.answerActions}>
        <CopyButton label="Copy answer" text={turn.text} />
        {onRetry !== undefined && (
          <IconButton icon={RotateCw} label="Ask again" side="left" size={14} onClick={onRetry} />
        )}
      </span>
      {hasFailures(attempts) && (
        <details className={facts.fallback}>
          <summary>
            <ChevronRight size={12} aria-hidden className={facts.fold} />
            {fallbackWords(catalog, attempts) ?? 'after repeated attempts'}
          </summary>
          <AttemptList attempts={attempts} />
        </details>
      )}
    </footer>
  )
}

function TokenCounts({ usage }: { usage: Usage }) {
  return (
    <span title={usage.estimated ? 'Estimated: the provider did not report' : 'As the provider reported'}>
      {tokenWords(usage)}
    </span>
  )
}
