import { RotateCw } from 'lucide-react'
import { formatMoney, formatNumber } from '../lib/format.ts'
import { useModels } from '../lib/queries.ts'
import { IconButton } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Badge } from '../ui/feedback.tsx'
import styles from './chat.module.css'
import type { Outcome, Turn } from './conversation.ts'
import { modelName } from './model-choice.ts'

interface AnswerFooterProps {
  turn: Turn
  outcome: Extract<Outcome, { state: 'done' }>
  onRetry: (() => void) | undefined
}

/** Who answered, from how much, for how much. */
export function AnswerFooter({ turn, outcome, onRetry }: AnswerFooterProps) {
  const { data: catalog } = useModels()
  const { usage, cost, relevance, finishReason } = outcome
  const model = turn.answeredBy?.model ?? turn.askedModel
  const input = usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens
  const output = usage.outputTokens + usage.reasoningTokens
  const about = usage.estimated ? '≈ ' : ''
  return (
    <footer className={styles.answerFoot}>
      <span title={turn.answeredBy?.provider}>{modelName(catalog, model)}</span>
      {model !== turn.askedModel && (
        <Badge tone="warn" title={`${modelName(catalog, turn.askedModel)} was asked and could not answer`}>
          in place of {modelName(catalog, turn.askedModel)}
        </Badge>
      )}
      <span title={usage.estimated ? 'Estimated: the provider did not report' : 'As the provider reported'}>
        {about}
        {formatNumber(input)} in, {formatNumber(output)} out
      </span>
      <span>{cost === null ? 'unknown price' : formatMoney(cost)}</span>
      {relevance !== null && (
        <span title="How close the passages that were found are to the question">{relevance} relevance</span>
      )}
      {finishReason === 'length' && <Badge tone="warn">cut at the length limit</Badge>}
      {finishReason === 'content-filter' && <Badge tone="warn">stopped by the provider’s filter</Badge>}
      <span className={styles.answerActions}>
        <CopyButton label="Copy answer" text={turn.text} />
        {onRetry !== undefined && (
          <IconButton icon={RotateCw} label="Ask again" side="left" size={14} onClick={onRetry} />
        )}
      </span>
    </footer>
  )
}
