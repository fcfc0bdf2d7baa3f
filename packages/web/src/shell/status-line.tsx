import { Database, FolderGit2, Sparkles } from 'lucide-react'
import { Link } from 'wouter'
import { modelName, modelToAsk } from '../chat/model-choice.ts'
import { costOf } from '../chat/turn.ts'
import { formatCount, formatMoney } from '../lib/format.ts'
import { useIndexState, useModels, useUser, useWorkspace } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { shortcutLabel } from '../lib/use-shortcut.ts'
import { SessionChip } from '../sessions/session-chip.tsx'
import { isBusy } from '../workspaces/import-session.ts'
import { useImportState } from '../workspaces/use-import.tsx'
import type { IdeLocation } from './ide-url.ts'
import styles from './shell.module.css'
import { useIdeLocation } from './use-ide.ts'

const connectionWords = {
  online: 'Connected',
  offline: 'Offline',
  unreachable: 'Reconnecting',
} as const

/** Where one is, what the index holds, which model answers, what this chat has cost, and whether the server is there. */
export function StatusLine({ onPalette }: { onPalette: () => void }) {
  const { connection } = useServices()
  const location = useIdeLocation()
  const state = useStore(connection.state)
  return (
    <footer className={styles.status}>
      {location !== null && <WorkspaceStatus workspaceId={location.workspaceId} />}
      <span className={styles.spring} />
      {location !== null && <ChatStatus {...location} />}
      <button type="button" onClick={onPalette}>
        Commands <kbd>{shortcutLabel('K')}</kbd>
      </button>
      <span role="status">
        <span className={styles.dot} data-state={state} />
        {connectionWords[state]}
      </span>
    </footer>
  )
}

/** Says above everything that the server is away, and that nothing is lost. */
export function ConnectionBanner() {
  const state = useStore(useServices().connection.state)
  if (state === 'online') return null
  return (
    <p className={styles.banner} role="status">
      {state === 'offline'
        ? 'You are offline.'
        : 'The server cannot be reached; trying again every few seconds.'}{' '}
      What is on the page stays.
    </p>
  )
}

function WorkspaceStatus({ workspaceId }: { workspaceId: string }) {
  const workspace = useWorkspace(workspaceId)
  if (workspace.data === undefined) return null
  return (
    <>
      <Link href={`/w/${workspaceId}/settings`} className={styles.statusName}>
        <FolderGit2 size={12} aria-hidden />
        {workspace.data.name}
      </Link>
      <SessionChip workspaceId={workspaceId} />
      <IndexStatus workspaceId={workspaceId} />
    </>
  )
}

function IndexStatus({ workspaceId }: { workspaceId: string }) {
  const index = useIndexState(workspaceId)
  const running = useImportState(workspaceId)
  const words = isBusy(running) ? 'Importing' : indexWords(index.data)
  if (words === null) return null
  return (
    <span title={index.data && `Embedded with ${index.data.embeddingModel}`}>
      <Database size={12} aria-hidden />
      {words}
    </span>
  )
}

function indexWords(index: ReturnType<typeof useIndexState>['data']): string | null {
  if (index === undefined) return null
  if (index.documents === 0) return 'Nothing indexed'
  if (index.pending > 0) return `Indexing, ${formatCount(index.pending, 'passage')} to go`
  return `${formatCount(index.documents, 'file')} indexed`
}

function ChatStatus({ workspaceId, chat: chatId }: IdeLocation) {
  const { chats } = useServices()
  const session = chats.of({ userId: useUser().id, workspaceId, chatId })
  const { turns, reading } = useStore(session.store)
  const model = useStore(chats.model)
  const { data: catalog } = useModels()
  const { known, unknown } = costOf(turns)
  const atLeast = reading.state === 'read' && reading.earlier !== null ? 'at least ' : ''
  const parts = [
    known !== '0' || unknown === 0 ? formatMoney(known) : null,
    unknown > 0 ? `${unknown} unpriced` : null,
  ]
  return (
    <>
      <span title="The model that is asked next">
        <Sparkles size={12} aria-hidden />
        {modelName(catalog, modelToAsk(catalog, model))}
      </span>
      {turns.length > 0 && (
        <Link href="/settings/usage" title="The cost of this chat">
          {atLeast}
          {parts.filter(Boolean).join(' + ')}
        </Link>
      )}
    </>
  )
}
