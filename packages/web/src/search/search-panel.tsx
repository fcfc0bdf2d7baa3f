import { type Data, searchWorkspace } from '@atelier/contract'
import { useQuery } from '@tanstack/react-query'
import { Search, SearchX } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { formatCount } from '../lib/format.ts'
import { useServices } from '../lib/services.tsx'
import { PanelHeader } from '../shell/panel-header.tsx'
import { useIde } from '../shell/use-ide.ts'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { EmptyState, Loading } from '../ui/feedback.tsx'
import styles from './search.module.css'
import { SearchResultRow } from './search-result.tsx'

/** Results asked for: a screen and a half. */
const resultsWanted = 20

/** Search over vectors, words, paths and symbols. Runs on Enter, since each search counts against the AI class's small limit. */
export function SearchPanel() {
  const { client } = useServices()
  const { location, go } = useIde()
  const { workspaceId, query } = location
  const [text, setText] = useState(query)
  const search = useQuery({
    queryKey: ['workspace', workspaceId, 'search', query],
    queryFn: ({ signal }) =>
      client.call(searchWorkspace, { body: { query, workspaceId, limit: resultsWanted } }, { signal }),
    enabled: query !== '',
    staleTime: 5 * 60_000,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const wanted = text.trim()
    if (wanted === query && search.isError) void search.refetch()
    else go({ query: wanted, panel: 'search' })
  }
  return (
    <>
      <PanelHeader title="Search" />
      <search>
        <form className={styles.form} onSubmit={submit}>
          <Search size={14} aria-hidden />
          <input
            type="search"
            aria-label="Search the code"
            placeholder="What are you looking for?"
            value={text}
            maxLength={4000}
            // biome-ignore lint/a11y/noAutofocus: the panel is opened to type here
            autoFocus
            onChange={(event) => setText(event.target.value)}
          />
        </form>
      </search>
      <div className={styles.results} aria-live="polite">
        {query === '' && (
          <EmptyState icon={Search} title="Search the code">
            <p>
              Ask with words, such as “retry with back-off”, or with a name or path from the code, and press
              Enter.
            </p>
          </EmptyState>
        )}
        {search.isFetching && <Loading label="Searching" />}
        {search.isError && !search.isFetching && (
          <div className={styles.padded}>
            <ErrorNotice error={search.error} onRetry={() => void search.refetch()} />
          </div>
        )}
        {search.data !== undefined && !search.isFetching && <Results data={search.data} />}
      </div>
    </>
  )
}

function Results({ data }: { data: Data<typeof searchWorkspace> }) {
  if (data.results.length === 0) {
    return (
      <EmptyState icon={SearchX} title="Nothing found">
        <p>Try other words, or a name as it is written in the code.</p>
      </EmptyState>
    )
  }
  return (
    <>
      <p className={styles.summary}>
        {formatCount(data.results.length, 'passage')} in {Math.max(1, Math.round(data.tookMs))} ms
        <span title="The embedding model of this workspace’s index"> · {data.embeddingModel}</span>
      </p>
      <ol>
        {data.results.map((result) => (
          <li key={`${result.path}:${result.startLine}`}>
            <SearchResultRow result={result} />
          </li>
        ))}
      </ol>
    </>
  )
}
