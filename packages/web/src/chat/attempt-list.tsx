import type { Attempt } from '@atelier/contract'
import { formatDuration } from '../lib/format.ts'
import { useModels } from '../lib/queries.ts'
import styles from './answer-facts.module.css'
import { attemptWords } from './attempt-words.ts'
import { modelName } from './model-choice.ts'

/** Every model that was asked, in order, and what came of it. */
export function AttemptList({ attempts }: { attempts: readonly Attempt[] }) {
  const { data: catalog } = useModels()
  return (
    <ol className={styles.attempts} aria-label="Attempts">
      {attempts.map((attempt, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: attempts are only ever added at the end
        <li key={index}>
          <strong>{modelName(catalog, attempt.model)}</strong> {attemptWords(attempt)}
          {attempt.ms > 0 && <small>after {formatDuration(attempt.ms)}</small>}
        </li>
      ))}
    </ol>
  )
}
