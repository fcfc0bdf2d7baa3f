import { startWorkspace, stopWorkspace, type WorkspaceStatus } from '@atelier/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Play, Square } from 'lucide-react'
import { formatAgo, formatBytes, formatCount, formatMoment } from '../lib/format.ts'
import { useServices } from '../lib/services.tsx'
import { useNow } from '../lib/use-now.ts'
import { Button } from '../ui/button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Loading, Note } from '../ui/feedback.tsx'
import { PanelSection } from './panel-section.tsx'
import { activityName, isolationWords, stateWords } from './session-words.ts'
import styles from './sessions.module.css'
import { statusKey, useWorkspaceStatus } from './use-workspace-status.ts'

/** What happened within this time is going on, in milliseconds. */
const justNowMs = 60_000

/** What state the sandbox is in and why, what keeps it there, and what separates it from the machine. */
export function StateSection({ workspaceId, canEdit }: { workspaceId: string; canEdit: boolean }) {
  const status = useWorkspaceStatus(workspaceId)
  if (status.data === undefined) {
    return (
      <PanelSection title="State">
        {status.isError ? (
          <ErrorNotice error={status.error} onRetry={() => void status.refetch()} />
        ) : (
          <Loading label="Reading the state" />
        )}
      </PanelSection>
    )
  }
  return (
    <PanelSection title="State">
      <StateLine status={status.data} />
      {canEdit && <StateActions workspaceId={workspaceId} status={status.data} />}
      {!status.data.isolation.available && <Note>{status.data.isolation.reason}</Note>}
      <StateFacts status={status.data} />
    </PanelSection>
  )
}

function StateLine({ status }: { status: WorkspaceStatus }) {
  const now = useNow(30_000)
  const { state, reason, since } = status
  return (
    <div className={styles.state}>
      <p role="status">
        <span className={styles.dot} data-state={state} />
        <strong>{stateWords[state]}</strong>
      </p>
      <p className={styles.reason} data-state={state}>
        {reason.charAt(0).toUpperCase() + reason.slice(1)}
        <span title={formatMoment(since)}> · {formatAgo(since, now)}</span>
      </p>
    </div>
  )
}

function StateActions({ workspaceId, status }: { workspaceId: string; status: WorkspaceStatus }) {
  const { client } = useServices()
  const queryClient = useQueryClient()
  const key = statusKey(workspaceId)
  const begin = (state: 'starting' | 'stopping', reason: string) => () =>
    queryClient.setQueryData<WorkspaceStatus>(key, (shown) => shown && { ...shown, state, reason })
  const onSuccess = (next: WorkspaceStatus) => queryClient.setQueryData(key, next)
  const onError = () => void queryClient.invalidateQueries({ queryKey: key })
  const start = useMutation({
    mutationFn: () => client.call(startWorkspace, { params: { workspaceId } }),
    onMutate: begin('starting', 'asked for here'),
    onSuccess,
    onError,
  })
  const stop = useMutation({
    mutationFn: () => client.call(stopWorkspace, { params: { workspaceId } }),
    onMutate: begin('stopping', 'asked for here'),
    onSuccess,
    onError,
  })
  const { state, isolation } = status
  const isStarting = start.isPending || state === 'starting'
  const isStopping = stop.isPending || state === 'stopping'
  const error = start.error ?? stop.error
  return (
    <>
      {state === 'running' || isStopping ? (
        <Button icon={Square} busy={isStopping} onClick={() => stop.mutate()}>
          {isStopping ? 'Stopping' : 'Stop'}
        </Button>
      ) : (
        <Button
          variant="primary"
          icon={Play}
          busy={isStarting}
          disabled={!isolation.available}
          onClick={() => start.mutate()}
        >
          {isStarting ? 'Starting' : 'Start'}
        </Button>
      )}
      {error !== null && <ErrorNotice error={error} kept="The files of the workspace are as they were." />}
    </>
  )
}

function StateFacts({ status }: { status: WorkspaceStatus }) {
  const now = useNow(30_000)
  const { isolation, activity, stopsAt, usage } = status
  const memory = usage?.memoryBytes ?? null
  const processes = usage?.processes ?? null
  return (
    <dl className={styles.facts}>
      <dt>Isolation</dt>
      <dd>
        {isolationWords(isolation)}
        {isolation.missing.length > 0 && (
          <details>
            <summary>{formatCount(isolation.missing.length, 'thing')} this machine cannot enforce</summary>
            <ul>
              {isolation.missing.map((one) => (
                <li key={one}>{one}</li>
              ))}
            </ul>
          </details>
        )}
        {isolation.limits.length > 0 && (
          <details>
            <summary>{formatCount(isolation.limits.length, 'limit')} tried and held</summary>
            <ul>
              {isolation.limits.map((one) => (
                <li key={one}>{one}</li>
              ))}
            </ul>
          </details>
        )}
      </dd>
      {(memory !== null || processes !== null) && (
        <>
          <dt>Uses</dt>
          <dd>
            {[
              memory === null ? null : formatBytes(memory),
              processes === null ? null : formatCount(processes, 'process', 'processes'),
            ]
              .filter((part) => part !== null)
              .join(', ')}
          </dd>
        </>
      )}
      {activity.length > 0 && (
        <>
          <dt>Kept by</dt>
          <dd>
            <ul>
              {activity.map(({ kind, detail, at }) => (
                <li key={`${kind} ${detail}`}>
                  {activityName(kind)}: {detail}
                  {now - Date.parse(at) > justNowMs && `, ${formatAgo(at, now)}`}
                </li>
              ))}
            </ul>
          </dd>
        </>
      )}
      {stopsAt !== null && (
        <>
          <dt>Stops</dt>
          <dd title={formatMoment(stopsAt)}>{formatAgo(stopsAt, now)}, if nothing more happens</dd>
        </>
      )}
    </dl>
  )
}
