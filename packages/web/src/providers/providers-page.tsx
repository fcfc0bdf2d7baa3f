import { listProviderHealth } from '@atelier/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../lib/services.tsx'
import { Page, Section } from '../shell/page.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Loading } from '../ui/feedback.tsx'
import { ConnectProvider } from './connect-provider.tsx'
import { ProviderCard } from './provider-card.tsx'
import styles from './providers.module.css'

/** How often the page asks again while it is looked at, in milliseconds. */
const everyMs = 5_000

/** How each provider of models is doing, and how to connect one. */
export function ProvidersPage() {
  const { client } = useServices()
  const health = useQuery({
    queryKey: ['provider-health'],
    queryFn: ({ signal }) => client.call(listProviderHealth, {}, { signal }),
    refetchInterval: everyMs,
    staleTime: 0,
  })
  const connected = health.data?.items.filter(({ configured }) => configured) ?? []
  const others = health.data?.items.filter(({ configured }) => !configured) ?? []
  return (
    <Page
      title="Model providers"
      lead="How they are doing, as this server’s own calls tell since it started. The page looks again every few seconds."
    >
      {health.isPending && <Loading label="Asking how they are" />}
      {health.isError && (
        <ErrorNotice
          error={health.error}
          {...(health.data ? { kept: 'What was known before is shown below.' } : {})}
          onRetry={() => void health.refetch()}
        />
      )}
      {connected.length > 0 && (
        <ul className={styles.cards} aria-label="Connected providers">
          {connected.map((provider) => (
            <li key={provider.id}>
              <ProviderCard provider={provider} />
            </li>
          ))}
        </ul>
      )}
      {health.data !== undefined && (
        <Section
          title="Connect a provider"
          lead="Whoever runs this server does this once; keys stay on the server, no browser ever sees them."
        >
          <ConnectProvider providers={others} />
        </Section>
      )}
    </Page>
  )
}
