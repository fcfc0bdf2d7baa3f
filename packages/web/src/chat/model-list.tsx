import type { ModelCatalog, ModelRecord } from '@atelier/contract'
import type { UseQueryResult } from '@tanstack/react-query'
import { Command } from 'cmdk'
import { Check } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Badge, Loading } from '../ui/feedback.tsx'
import { matchWords } from '../ui/match-words.ts'
import palette from '../ui/palette.module.css'
import styles from './chat.module.css'
import { localModelKey, priceOf, recommendationsOf, windowOf } from './model-choice.ts'

interface ModelListProps {
  catalog: UseQueryResult<ModelCatalog>
  current: string
  onChoose: (key: string) => void
}

/** Every model with its price, window and availability; what can be used comes first. */
export function ModelList({ catalog, current, onChoose }: ModelListProps) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  return (
    <Command label="Models" filter={matchWords} loop className={palette.palette}>
      <Command.Input ref={input} placeholder="Search models and providers" />
      <Command.List>
        {catalog.isPending && <Loading label="Reading the models" />}
        {catalog.isError && <ErrorNotice error={catalog.error} onRetry={() => void catalog.refetch()} />}
        {catalog.data !== undefined && (
          <>
            <Command.Empty>No model matches.</Command.Empty>
            <Recommended catalog={catalog.data} onChoose={onChoose} />
            <Models catalog={catalog.data} current={current} onChoose={onChoose} />
          </>
        )}
      </Command.List>
      <p className={styles.modelsFoot}>
        Prices in USD per million tokens, in / out{catalog.data && `, as of ${catalog.data.updated}`}.
      </p>
    </Command>
  )
}

function Recommended({ catalog, onChoose }: { catalog: ModelCatalog; onChoose: (key: string) => void }) {
  return (
    <Command.Group heading="Recommended">
      {recommendationsOf(catalog).map(({ task, title, now, better }) =>
        now === undefined ? null : (
          <Command.Item
            key={task}
            value={`recommended ${task}`}
            keywords={[title, now.name]}
            onSelect={() => onChoose(now.key)}
          >
            <span className={styles.modelName}>{title}</span>
            <small>
              {now.name}
              {better !== undefined && `, or ${better.name} with a key`}
            </small>
          </Command.Item>
        ),
      )}
    </Command.Group>
  )
}

function Models({
  catalog,
  current,
  onChoose,
}: {
  catalog: ModelCatalog
  current: string
  onChoose: (key: string) => void
}) {
  const available = catalog.models.filter((model) => model.available)
  const others = catalog.models.filter((model) => !model.available)
  const providerName = (id: string) => catalog.providers.find((provider) => provider.id === id)?.name ?? id
  const row = (model: ModelRecord) => (
    <Command.Item
      key={model.key}
      value={model.key}
      keywords={[model.name, model.id, model.family, providerName(model.provider)]}
      disabled={!model.available}
      onSelect={() => onChoose(model.key)}
    >
      <Check size={14} aria-hidden style={{ visibility: model.key === current ? 'visible' : 'hidden' }} />
      <span className={styles.modelName}>{model.name}</span>
      <small>{model.key === localModelKey ? 'runs here, needs nothing' : providerName(model.provider)}</small>
      {model.status !== 'active' && <Badge tone="warn">{model.status}</Badge>}
      <span className={styles.modelFact} title="Context window in tokens">
        {windowOf(model)}
      </span>
      <span className={styles.modelPrice} title="USD per million tokens, in / out">
        {priceOf(model)}
      </span>
    </Command.Item>
  )
  return (
    <>
      <Command.Group heading="Ready to use">{available.map(row)}</Command.Group>
      {others.length > 0 && (
        <Command.Group heading="Need a key on the server">{others.map(row)}</Command.Group>
      )}
    </>
  )
}
