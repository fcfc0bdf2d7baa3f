import type { ProviderHealth } from '@atelier/contract'
import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { modelName } from '../chat/model-choice.ts'
import { formatAgo, formatCount, formatDuration, formatNumber } from '../lib/format.ts'
import { useModels } from '../lib/queries.ts'
import { useNow } from '../lib/use-now.ts'
import { Badge } from '../ui/feedback.tsx'
import { breakerWords, healthWords } from './provider-words.ts'
import styles from './providers.module.css'

/** One connected provider: whether it works, how fast, what went wrong last. One that nobody has asked is a line. */
export function ProviderCard({ provider }: { provider: ProviderHealth }) {
  const { name, keys, keyVariable } = provider
  const { tone, title, meaning } = healthWords(provider)
  const asked = provider.models.length > 0 || provider.lastError !== null
  return (
    <article className={styles.card}>
      <header>
        <h2>{name}</h2>
        <Badge tone={tone} title={meaning}>
          {title}
        </Badge>
        <small>
          {!asked && 'not asked yet · '}
          {keyVariable === null ? 'needs no key' : formatCount(keys, 'key')}
        </small>
      </header>
      {asked && (
        <>
          <p>{meaning}</p>
          <Figures provider={provider} />
        </>
      )}
    </article>
  )
}

function Figures({
  provider: { calls, errorRate, latency, lastError, models, keys },
}: {
  provider: ProviderHealth
}) {
  const time = (milliseconds: number | undefined) =>
    milliseconds === undefined ? '–' : formatDuration(milliseconds)
  return (
    <>
      <dl>
        <Fact name="Last minute">{formatCount(calls, 'call')}</Fact>
        <Fact name="Errors">
          {errorRate === null ? '–' : `${formatNumber(Math.round(errorRate * 100))} %`}
        </Fact>
        <Fact name="First words, p50">{time(latency?.p50)}</Fact>
        <Fact name="p95">{time(latency?.p95)}</Fact>
        <Fact name="p99">{time(latency?.p99)}</Fact>
      </dl>
      {lastError !== null && <LastError error={lastError} />}
      {models.length > 0 && <Models models={models} keys={keys} />}
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function LastError({ error }: { error: NonNullable<ProviderHealth['lastError']> }) {
  const now = useNow(10_000)
  const { data: catalog } = useModels()
  return (
    <p className={styles.lastError}>
      <strong>Last error</strong> {error.message}
      <small>
        {modelName(catalog, error.model)} · {formatAgo(error.at, now)}
      </small>
    </p>
  )
}

function Models({ models, keys }: { models: ProviderHealth['models']; keys: number }) {
  const { data: catalog } = useModels()
  return (
    <details className={styles.models}>
      <summary>
        <ChevronRight size={12} aria-hidden />
        {formatCount(new Set(models.map(({ model }) => model)).size, 'model')} asked since the start
      </summary>
      <ul>
        {models.map((entry) => (
          <li key={`${entry.model} ${entry.keyNumber}`}>
            <span>
              {modelName(catalog, entry.model)}
              {keys > 1 && ` · key ${entry.keyNumber}`}
            </span>
            <small>{breakerWords(entry)}</small>
          </li>
        ))}
      </ul>
    </details>
  )
}
