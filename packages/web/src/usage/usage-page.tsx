import { ChartColumn, ChevronRight } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useMemo } from 'react'
import { Link, useSearch } from 'wouter'
import { modelName } from '../chat/model-choice.ts'
import { formatCompact, formatCount, formatDay, formatMoney, formatNumber } from '../lib/format.ts'
import { useModels, useUser, useWorkspaces } from '../lib/queries.ts'
import { Page, Section } from '../shell/page.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { EmptyState, Loading } from '../ui/feedback.tsx'
import { Budgets } from './budgets.tsx'
import styles from './usage.module.css'
import { everyDay, type Range, rangeOf, ranges, tokensOf } from './usage-days.ts'
import { type UsageView, useUsage } from './usage-queries.ts'
import { UsageTable } from './usage-table.tsx'

/** The plotting library is as large as the rest of the settings. */
const UsagePlots = lazy(() => import('./usage-plots.tsx').then(({ UsagePlots }) => ({ default: UsagePlots })))

/** What one's calls of models used and cost; for administrators also everybody's. */
export function UsagePage() {
  const search = useSearch()
  const range = rangeOf(search)
  const isAdmin = useUser().role === 'admin'
  const everybody = isAdmin && new URLSearchParams(search).get('of') === 'everybody'
  const usage = useUsage(range, everybody)
  return (
    <Page
      title="Usage"
      lead={
        everybody
          ? 'What everybody asked of models, and what it cost.'
          : 'What you asked of models, and what it cost.'
      }
      actions={<Choices range={range} everybody={everybody} isAdmin={isAdmin} />}
    >
      {usage.isPending && <Loading label="Adding up" />}
      {usage.isError && <ErrorNotice error={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.data !== undefined && <Report usage={usage.data} everybody={everybody} />}
    </Page>
  )
}

const rangeWords: Record<Range, string> = { 7: '7 days', 30: '30 days', 90: '90 days', 365: '1 year' }

function Choices({ range, everybody, isAdmin }: { range: Range; everybody: boolean; isAdmin: boolean }) {
  const href = (days: Range, all: boolean) => `/settings/usage?days=${days}${all ? '&of=everybody' : ''}`
  return (
    <div className={styles.choices}>
      {isAdmin && (
        <nav className={styles.choice} aria-label="Whose usage">
          <Link href={href(range, false)} aria-current={everybody ? undefined : 'true'}>
            Mine
          </Link>
          <Link href={href(range, true)} aria-current={everybody ? 'true' : undefined}>
            Everybody’s
          </Link>
        </nav>
      )}
      <nav className={styles.choice} aria-label="Period">
        {ranges.map((days) => (
          <Link key={days} href={href(days, everybody)} aria-current={days === range ? 'true' : undefined}>
            {rangeWords[days]}
          </Link>
        ))}
      </nav>
    </div>
  )
}

function Report({ usage, everybody }: { usage: UsageView; everybody: boolean }) {
  const { totals, budgets } = usage
  const userIds = usage.byUser.map(({ userId }) => userId)
  const budgetSection = <Budgets budgets={budgets} everybody={everybody} userIds={userIds} />
  if (totals.calls === 0) {
    return (
      <>
        <EmptyState icon={ChartColumn} title="No model was asked in this time">
          <p>Each answer in a chat, and each call through the HTTP interface, is counted here.</p>
        </EmptyState>
        {budgetSection}
      </>
    )
  }
  return (
    <>
      <Totals usage={usage} />
      <Days usage={usage} />
      {budgetSection}
      <ByModel usage={usage} />
      <ByWorkspace usage={usage} />
      {usage.byUser.length > 0 && (
        <Section title="By person">
          <UsageTable
            caption="Usage by person"
            head="Person"
            rows={usage.byUser.map((totals) => ({
              key: totals.userId,
              name: <code>{totals.userId}</code>,
              totals,
            }))}
          />
        </Section>
      )}
    </>
  )
}

function Totals({ usage: { totals } }: { usage: UsageView }) {
  const { input, cached, output } = tokensOf(totals)
  return (
    <dl className={styles.totals}>
      <Total name="Cost" value={formatMoney(totals.cost)}>
        {totals.unpriced > 0 && `+ ${formatCount(totals.unpriced, 'call')} of unknown price`}
      </Total>
      <Total name="Calls" value={formatNumber(totals.calls)}>
        {totals.estimated > 0 && `${formatNumber(totals.estimated)} counted by us`}
      </Total>
      <Total name="Tokens in" value={formatCompact(input + cached)}>
        {cached > 0 && `${formatCompact(cached)} from caches`}
      </Total>
      <Total name="Tokens out" value={formatCompact(output)}>
        {totals.reasoningTokens > 0 && `${formatCompact(totals.reasoningTokens)} of reasoning`}
      </Total>
    </dl>
  )
}

function Total({ name, value, children }: { name: string; value: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        {children !== false && <small>{children}</small>}
      </dd>
    </div>
  )
}

function Days({ usage }: { usage: UsageView }) {
  const days = useMemo(() => everyDay(usage, usage.byDay), [usage])
  return (
    <Section title="By day">
      <Suspense fallback={<Loading label="Drawing" />}>
        <UsagePlots days={days} />
      </Suspense>
      <details className={styles.behind}>
        <summary>
          <ChevronRight size={12} aria-hidden />
          The same as a table
        </summary>
        <UsageTable
          caption="Usage by day"
          head="Day (UTC)"
          rows={usage.byDay
            .toReversed()
            .map((totals) => ({ key: totals.day, name: formatDay(`${totals.day}T12:00:00Z`), totals }))}
        />
      </details>
    </Section>
  )
}

function ByModel({ usage }: { usage: UsageView }) {
  const { data: catalog } = useModels()
  const rows = usage.byModel.map((totals) => ({
    key: totals.model,
    name: modelName(catalog, totals.model),
    totals,
  }))
  return (
    <Section title="By model">
      <UsageTable caption="Usage by model" head="Model" rows={rows} />
    </Section>
  )
}

function ByWorkspace({ usage }: { usage: UsageView }) {
  const workspaces = useWorkspaces().data?.items ?? []
  const rows = usage.byWorkspace.map((totals) => {
    const workspace = workspaces.find(({ id }) => id === totals.workspaceId)
    const { workspaceId } = totals
    return { key: workspaceId ?? '', name: workspaceName(workspaceId, workspace?.name), totals }
  })
  return (
    <Section title="By workspace">
      <UsageTable caption="Usage by workspace" head="Workspace" rows={rows} />
    </Section>
  )
}

function workspaceName(workspaceId: string | null, name: string | undefined): ReactNode {
  if (workspaceId === null) return 'None'
  if (name === undefined) return <span title={workspaceId}>Deleted, or not yours</span>
  return <Link href={`/w/${workspaceId}/files`}>{name}</Link>
}
